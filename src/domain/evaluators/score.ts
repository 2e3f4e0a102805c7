/** What scorers get and give, whichever kind they are. Pure. */
import type { JsonObject } from '../../schemas/primitives.ts'
import { isObject } from '../json/is-object.ts'
import { toDouble } from '../json/json-text.ts'
import { textOrNull } from '../json/json-values.ts'

/**
 * What is scored, plain JSON in which paths of scorers begin. Calls, traces and conversations also have what else their
 * call has: `id`, `op_name`, `attributes`, `exception`, `summary`; traces and conversations have `calls`.
 */
export interface ScoredSubject {
  readonly inputs: unknown
  readonly output: unknown
  /** The row of a data set that the output belongs to. */
  readonly reference?: unknown
  /** From start to end; null: not known. */
  readonly latency_ms?: number | null
  /** US dollars; null: not known. */
  readonly cost_usd?: number | null
  readonly [field: string]: unknown
}

export interface Score {
  /** What the scorer says, as it is stored: `score`, a number, or `passed`, a truth value, where it has one. */
  readonly output: JsonObject
  /** The score as a number, 0 or 1 for a truth value; null: it has none. */
  readonly value: number | null
  readonly reason: string | null
  /** What the judge cost in US dollars; null: nothing, or not known. */
  readonly cost_usd: number | null
  /** Id of the judge's own call; null: none was made. */
  readonly call_id: string | null
}

/** Members in which responses of judges and webhooks have their value, in this order. */
const VALUE_NAMES = ['score', 'passed', 'value', 'is_match', 'rating'] as const
const REASON_NAMES = ['reason', 'reasoning', 'explanation'] as const

/** Returns what a judge or webhook says as a score. */
export function readScore(output: JsonObject, made: Pick<Score, 'cost_usd' | 'call_id'>): Score {
  const value = scoreValueOf(output)
  const reason = REASON_NAMES.map((name) => textOrNull(output[name])).find((one) => one !== null)
  return { output, value: value === null ? null : Number(value), reason: reason ?? null, ...made }
}

/** Returns the number or truth value in the output of a score; null: it has none. */
export function scoreValueOf(output: Readonly<Record<string, unknown>>): number | boolean | null {
  const values = VALUE_NAMES.map((name) => toDouble(output[name]))
  return values.find(isScoreValue) ?? null
}

/** Returns any JSON value as the output of a score. */
export function toScoreOutput(value: unknown): JsonObject {
  if (isObject(value) && !JSON.isRawJSON(value)) return value
  return typeof value === 'boolean' ? { passed: value } : { score: value }
}

function isScoreValue(value: unknown): value is number | boolean {
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}
