/** Exact percentiles over unsorted values and sorted runs, without sorting everything. Pure. */
import { createRunSearch, type SortedRun, type SortedValues } from './run-search.ts'

const LOOSE_MIN = 64
/** Limit: average length below which runs are merged into one sorted array: searching them would take longer. */
const RUN_LENGTH_MIN = 16

export interface OrderStatistics {
  add(value: number): void
  /** @param sorted - ascending from `from` to before `to`; not changed before the next reset */
  addSorted(sorted: SortedValues, from?: number, to?: number): void
  /**
   * Percentile by linear interpolation at rank percent/100 * (n - 1).
   *
   * @param percent - 0..100; there must be a value
   *
   * Spec: §2.8 percentiles (method not shown). Choice: exact at any size.
   */
  percentile(percent: number): number
  reset(): void
}

export function createOrderStatistics(): OrderStatistics {
  let loose = new Float64Array(LOOSE_MIN)
  let looseCount = 0
  let runs: SortedRun[] = []
  let ranked: Ranked | null = null

  function rank(): Ranked {
    if (looseCount === 0) return rankRuns(runs)
    return rankRuns([...runs, wholeRun(loose.subarray(0, looseCount).sort())])
  }

  return {
    add(value) {
      if (looseCount === loose.length) {
        const larger = new Float64Array(loose.length * 2)
        larger.set(loose)
        loose = larger
      }
      loose[looseCount] = value
      looseCount += 1
      ranked = null
    },
    addSorted(sorted, from = 0, to = sorted.length) {
      if (to > from) runs.push({ values: sorted, from, to })
      ranked = null
    },
    percentile(percent) {
      ranked ??= rank()
      return interpolate(ranked, percent)
    },
    reset() {
      looseCount = 0
      runs = []
      ranked = null
    },
  }
}

/** Values by rank, from 0. */
interface Ranked {
  readonly count: number
  /** The value at a rank (from 0) and its successor; the last value is its own successor. */
  pair(place: number): readonly [value: number, next: number]
}

function interpolate({ count, pair }: Ranked, percent: number): number {
  const rank = (percent / 100) * (count - 1)
  const below = Math.floor(rank)
  const [low, high] = pair(below)
  const part = rank - below
  const span = high - low
  return Number.isFinite(span) ? low + span * part : low * (1 - part) + high * part
}

function wholeRun(values: SortedValues): SortedRun {
  return { values, from: 0, to: values.length }
}

function rankRun({ values, from, to }: SortedRun): Ranked {
  return {
    count: to - from,
    pair: (place) => [
      values[from + place] as number,
      values[Math.min(from + place + 1, to - 1)] as number,
    ],
  }
}

function rankRuns(runs: readonly SortedRun[]): Ranked {
  const [first] = runs
  if (first && runs.length === 1) return rankRun(first)
  let count = 0
  for (const { from, to } of runs) count += to - from
  const isSearched = count >= runs.length * RUN_LENGTH_MIN
  if (isSearched && runs.every(isWhole)) return { count, pair: createRunSearch(runs) }
  return rankRun(wholeRun(concatenate(runs, count).sort()))
}

/** Whether all values of a run are whole; only integer arrays are sure to, others are checked. */
function isWhole({ values, from, to }: SortedRun): boolean {
  return !(values instanceof Float64Array) || values.subarray(from, to).every(Number.isSafeInteger)
}

function concatenate(runs: readonly SortedRun[], count: number): Float64Array | Uint32Array {
  const isNarrow = runs.every(({ values }) => !(values instanceof Float64Array))
  const all = isNarrow ? new Uint32Array(count) : new Float64Array(count)
  let place = 0
  for (const { values, from, to } of runs) {
    for (let index = from; index < to; index++) {
      all[place] = values[index] as number
      place += 1
    }
  }
  return all
}
