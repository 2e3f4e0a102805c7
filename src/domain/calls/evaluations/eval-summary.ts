/** Summarizes the scores of evaluations: one entry per value that scorers return. Pure. */
import type {
  EvalRow,
  EvalScorerStats,
  EvalSummary,
  EvalTrial,
} from '../../../schemas/calls/eval-results.ts'
import { renderTimestampOrNull } from '../../../schemas/timestamp.ts'
import { isObject } from '../../json/is-object.ts'
import { toDouble } from '../../json/json-text.ts'
import { textOrNull } from '../../json/json-values.ts'
import { addToSum, createSum, type ExactSum, meanOf } from '../../stats/exact-sum.ts'
import type { StoredCall } from '../call-view.ts'

type Evaluation = EvalSummary['evaluations'][number]

/**
 * @param roots - calls of the evaluations
 */
export function summarizeRows(rows: readonly EvalRow[], roots: readonly StoredCall[]): EvalSummary {
  const trials = new Map<string, EvalTrial[]>()
  for (const { evaluations } of rows) {
    for (const { evaluation_call_id, trials: more } of evaluations) {
      const known = trials.get(evaluation_call_id) ?? []
      trials.set(evaluation_call_id, known)
      known.push(...more)
    }
  }
  const byId = new Map(roots.map((root) => [root.id, root]))
  return {
    row_count: rows.length,
    evaluations: [...trials].map(([id, of]) => summarize(id, of, byId.get(id) ?? null)),
  }
}

function summarize(
  evaluation_call_id: string,
  trials: readonly EvalTrial[],
  root: StoredCall | null,
): Evaluation {
  const inputs = root?.inputs ?? {}
  return {
    evaluation_call_id,
    evaluation_ref: textOrNull(inputs.self ?? inputs.this),
    model_ref: textOrNull(inputs.model),
    display_name: root?.display_name ?? null,
    trace_id: root?.trace_id ?? null,
    started_at: renderTimestampOrNull(root?.started_at_us ?? null),
    trial_count: trials.length,
    predict_total_tokens: sum(trials.map(({ total_tokens }) => total_tokens)),
    predict_total_cost: sum(trials.map(({ total_cost }) => total_cost)),
    scorer_stats: sumScores(trials),
  }
}

/** Returns the sum of the known values; null when none is known. */
function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
}

const TYPES: Readonly<Record<string, EvalScorerStats['value_type']>> = {
  boolean: 'binary',
  number: 'continuous',
  string: 'text',
}

interface Sums {
  readonly scorer_key: string
  readonly path: string | null
  readonly value_type: EvalScorerStats['value_type']
  trials: number
  readonly numbers: ExactSum
  known: number
  passed: number
}

function sumScores(trials: readonly EvalTrial[]): EvalScorerStats[] {
  const found = new Map<string, Sums>()

  function add(scorer_key: string, path: readonly string[], given: unknown): void {
    const value = toDouble(given)
    if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) add(scorer_key, [...path, key], inner)
      return
    }
    const value_type = TYPES[typeof value]
    if (value_type === undefined) return
    const name = path.length === 0 ? null : path.join('.')
    const key = JSON.stringify([scorer_key, name])
    const sums = found.get(key) ?? {
      scorer_key,
      path: name,
      value_type,
      trials: 0,
      numbers: createSum(),
      known: 0,
      passed: 0,
    }
    found.set(key, sums)
    sums.trials += 1
    if (typeof value === 'number') addToSum(sums.numbers, value)
    if (typeof value === 'boolean') sums.known += 1
    if (value === true) sums.passed += 1
  }

  for (const { scores } of trials) {
    for (const [name, value] of Object.entries(scores)) add(name, [], value)
  }
  return Array.from(found.values(), renderSums)
}

function renderSums(sums: Sums): EvalScorerStats {
  const { scorer_key, path, value_type, trials, numbers, known, passed } = sums
  return {
    scorer_key,
    path,
    value_type,
    trial_count: trials,
    numeric_count: numbers.count,
    numeric_mean: numbers.count === 0 ? null : meanOf(numbers),
    pass_known_count: known,
    pass_true_count: passed,
    pass_rate: known === 0 ? null : passed / known,
    pass_signal_coverage: known / trials,
  }
}
