/** The truth of a query expression over rows. Pure. */
import type { Comparison, Expression } from './query-expression.ts'
import { convert, isEqual, order, toText } from './query-values.ts'

/** What a field of a row holds: a JSON value, a TimeValue, or undefined when there is none. */
export type GetField = (path: readonly string[]) => unknown

/** Whether a row meets an expression; see createMatcher. */
export function matches(expression: Expression, getField: GetField): boolean {
  return createMatcher(expression)(getField)
}

/** What was read of one row. */
interface RowView {
  readonly getField: GetField
  /** By the number of the field: its value, its text, its text in lower case. */
  readonly values: Map<number, unknown>
  readonly texts: Map<number, string | null>
  readonly lowered: Map<number, string | null>
}

type Evaluate = (row: RowView) => unknown

/**
 * Prepares an expression for many rows: each field of a row is looked up, made a text and lowered once, however
 * often the expression names it.
 *
 * Spec: §2.7 (a query is an addition). Choice: two values of truth: a comparison of values that have no
 * order, missing ones among them, is false, and `$not` of it is true.
 *
 * @returns whether a row meets the expression
 */
export function createMatcher(expression: Expression): (getField: GetField) => boolean {
  const evaluate = createPlan().plan(expression)
  return (getField) =>
    evaluate({ getField, values: new Map(), texts: new Map(), lowered: new Map() }) === true
}

/** The value of an operand; operations give a boolean. */
export function evaluate(expression: Expression, getField: GetField): unknown {
  const row = { getField, values: new Map(), texts: new Map(), lowered: new Map() }
  return createPlan().plan(expression)(row)
}

function createPlan() {
  const fields = new Map<string, number>()

  function planField(path: readonly string[]) {
    const name = path.join('.')
    const field = fields.get(name) ?? fields.size
    fields.set(name, field)
    const getValue: Evaluate = ({ values, getField }) => keep(values, field, () => getField(path))
    const textOf = (row: RowView) => keep(row.texts, field, () => toText(getValue(row)))
    const loweredOf = (row: RowView) =>
      keep(row.lowered, field, () => textOf(row)?.toLowerCase() ?? null)
    return { getValue, textOf, loweredOf }
  }

  /** The text that a `$contains` looks into. */
  function planText(input: Expression, ignoresCase: boolean): (row: RowView) => string | null {
    if (input.op === '$getField') {
      const { textOf, loweredOf } = planField(input.path)
      return ignoresCase ? loweredOf : textOf
    }
    const getValue = plan(input)
    return (row) => {
      const text = toText(getValue(row))
      return ignoresCase ? (text?.toLowerCase() ?? null) : text
    }
  }

  function planTruth(item: Expression): (row: RowView) => boolean {
    const getValue = plan(item)
    return (row) => getValue(row) === true
  }

  function plan(expression: Expression): Evaluate {
    switch (expression.op) {
      case '$literal':
        return () => expression.value
      case '$getField':
        return planField(expression.path).getValue
      case '$convert': {
        const input = plan(expression.input)
        return (row) => convert(input(row), expression.to)
      }
      case '$and': {
        const items = expression.items.map(planTruth)
        return (row) => items.every((isTrue) => isTrue(row))
      }
      case '$or': {
        const items = expression.items.map(planTruth)
        return (row) => items.some((isTrue) => isTrue(row))
      }
      case '$not': {
        const item = planTruth(expression.item)
        return (row) => !item(row)
      }
      case '$in': {
        const left = plan(expression.left)
        const items = expression.items.map(plan)
        return (row) => {
          const value = left(row)
          return items.some((item) => isEqual(value, item(row)))
        }
      }
      case '$contains': {
        const { substr, ignoresCase } = expression
        const textOf = planText(expression.input, ignoresCase)
        const partOf = planText(substr, ignoresCase)
        const part = plan(substr)
        return (row) =>
          typeof part(row) === 'string' && (textOf(row)?.includes(partOf(row) as string) ?? false)
      }
      default: {
        const { op } = expression
        const [left, right] = [plan(expression.left), plan(expression.right)]
        return (row) => compare(op, left(row), right(row))
      }
    }
  }

  return { plan }
}

/** The value of a key; made when it is asked for first. */
function keep<Value>(kept: Map<number, Value>, key: number, make: () => Value): Value {
  const known = kept.get(key)
  if (known !== undefined || kept.has(key)) return known as Value
  const made = make()
  kept.set(key, made)
  return made
}

function compare(op: Comparison, left: unknown, right: unknown): boolean {
  if (op === '$eq') return isEqual(left, right)
  const sign = order(left, right)
  if (sign === null) return false
  if (op === '$gt') return sign > 0
  if (op === '$gte') return sign >= 0
  return op === '$lt' ? sign < 0 : sign <= 0
}
