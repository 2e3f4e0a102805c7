/** Sums over calls, from which stores fill the tables of a query, and the keys of equal queries. */
import type { ModelUsage } from '../../../domain/usage/usage.ts'
import type { StatsQuery } from '../../api/stats/stats.ts'

/** The counters of a row of usage, in the order of stored segments and of the rows that stores deliver. */
export const COUNTERS = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'uncached_input_tokens',
  'input_audio_tokens',
  'input_image_tokens',
  'cache_read_audio_tokens',
  'cache_creation_1h_input_tokens',
  'reasoning_tokens',
  'output_audio_tokens',
  'output_image_tokens',
  'reported_cost_microcents',
] as const satisfies readonly (keyof ModelUsage)[]

/** Numbers per part for calls: count, ended, errors, latency sum, minimum, maximum, ones, zeros. */
export const CALL_NUMBERS = 8
/** Numbers per part and model for usage: rows, COUNTERS, the longest paid input. */
export const USAGE_NUMBERS = COUNTERS.length + 2
/** The index of the longest paid input in USAGE_NUMBERS. */
export const INPUT_MAX = USAGE_NUMBERS - 1

/** Larger sums are flushed first: adding another hour could exceed the integers that a double holds exactly. */
export const SUM_MAX = 2 ** 52

export type Integers = Uint8Array | Uint16Array | Uint32Array

/** Ascending values by part: the values of a part end where those of the next begin. */
export interface Runs {
  readonly values: Integers
  /** The start of each part, then the end of the last; one more than there are parts. */
  readonly bounds: ArrayLike<number>
}

/** Sums of a few of many parts, which are identified by keys; rows are in key order. */
export interface KeyedSums {
  readonly callKeys: Integers
  readonly calls: Float64Array
  /** As servedKey names them. */
  readonly models: readonly string[]
  readonly usageKeys: Integers
  /** Indexes in `models`. */
  readonly usageModels: Integers
  readonly usage: Float64Array
}

/** The parts of an hour, each within one bucket. Times are microseconds from the start of the hour. */
export interface HourParts {
  readonly hourUs: number
  readonly firstBucket: number
  /** The start of each part, then the end of the last; one more than there are parts. */
  readonly bounds: readonly number[]
}

/** The sums that an hour, or a segment of it, adds to the tables of a query. */
export interface HourSums {
  readonly sums: KeyedSums
  /** The part of the calls of each key, ascending with the keys; -1 for none. */
  readonly partOfKey: ArrayLike<number>
  /** Latencies by key, each ascending; null when not requested. */
  readonly runs: Runs | null
  /** Reads the usage of a part by these models, named by servedKey, row by row, when sums do not suffice. */
  readonly rowsOf: UsageRows
}

export type UsageRows = (
  part: number,
  models: ReadonlySet<string>,
  add: (row: ModelUsage, startedAtUs: number) => void,
) => void

/** Returns the CALL_NUMBERS of parts without calls. */
export function emptyCalls(parts: number): Float64Array {
  const calls = new Float64Array(parts * CALL_NUMBERS)
  for (let at = 0; at < calls.length; at += CALL_NUMBERS) {
    calls[at + 4] = Number.POSITIVE_INFINITY
    calls[at + 5] = Number.NEGATIVE_INFINITY
  }
  return calls
}

/** Returns the whole query as text. Prices never change, so their ids identify them. */
export function keyOf({ startsUs, prices, ...rest }: StatsQuery): string {
  const query = { ...rest, prices: prices.map(({ id }) => id) }
  const { buffer, byteOffset, byteLength } = startsUs
  return JSON.stringify(query) + Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}
