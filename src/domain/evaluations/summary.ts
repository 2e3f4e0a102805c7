/**
 * Summaries of trials as the SDKs make them: means of numbers, counts of truth values, by field. Pure; trials may come in
 * any order.
 */
import { isObject } from '../json/is-object.ts'
import { toDouble } from '../json/json-text.ts'
import { addToSum, createSum, type ExactSum, meanOf } from '../stats/exact-sum.ts'

/** Limits: fields and depth of a summary. */
const FIELDS_MAX = 1_000
const DEPTH_MAX = 8

interface Field {
  readonly numbers: ExactSum
  /** Values that are numbers. */
  numberCount: number
  truths: number
  /** Values that are truth values. */
  truthCount: number
  readonly fields: Map<string, Field>
}

interface TrialSummary {
  /** Adds the output of a trial: `output`, `scores` and `model_latency`. */
  add(output: Readonly<Record<string, unknown>>): void
  render(): Record<string, unknown>
}

export function createTrialSummary(): TrialSummary {
  let fieldCount = 0
  const root = createField()

  function createField(): Field {
    fieldCount += 1
    return { numbers: createSum(), numberCount: 0, truths: 0, truthCount: 0, fields: new Map() }
  }

  function add(field: Field, given: unknown, depth: number): void {
    const value = toDouble(given)
    if (typeof value === 'boolean') {
      field.truthCount += 1
      field.truths += Number(value)
    } else if (typeof value === 'number') {
      field.numberCount += 1
      addToSum(field.numbers, value)
    } else if (isObject(value) && depth < DEPTH_MAX) {
      for (const [name, inner] of Object.entries(value)) {
        const found = field.fields.get(name) ?? (fieldCount < FIELDS_MAX ? createField() : null)
        if (found === null) return
        field.fields.set(name, found)
        add(found, inner, depth + 1)
      }
    }
  }

  return {
    add({ output, scores, model_latency }) {
      const named = { ...(isObject(scores) ? scores : {}), output, model_latency }
      add(root, named, 0)
    },
    render: () => renderFields(root),
  }
}

function renderFields({ fields }: Field): Record<string, unknown> {
  const entries = [...fields].map(([name, field]) => [name, renderField(field)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}

function renderField(field: Field): Record<string, unknown> | null {
  const { truths, truthCount, numbers, numberCount } = field
  if (truthCount > 0) return { true_count: truths, true_fraction: truths / truthCount }
  if (numberCount > 0) return { mean: meanOf(numbers) }
  const inner = renderFields(field)
  return Object.keys(inner).length === 0 ? null : inner
}
