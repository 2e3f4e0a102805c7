/** Exact percentiles over loose values and runs that are sorted already, without sorting all of them. Pure. */

/** Ascending. */
export type SortedValues = Float64Array | Uint32Array | Uint16Array | Uint8Array

const LOOSE_MIN = 64

export interface OrderStatistics {
  add(value: number): void
  /** @param sorted - ascending; not changed before the next reset */
  addSorted(sorted: SortedValues): void
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
  let runs: SortedValues[] = []
  let ranked: Ranked | null = null

  function rank(): Ranked {
    const all = looseCount === 0 ? runs : [...runs, loose.subarray(0, looseCount).sort()]
    const [first] = all
    return all.length === 1 && first ? rankRun(first) : rankRuns(all)
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
    addSorted(sorted) {
      if (sorted.length > 0) runs.push(sorted)
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

/** Values by their place in the order, from 0. */
interface Ranked {
  readonly count: number
  at(place: number): number
}

function interpolate({ count, at }: Ranked, percent: number): number {
  const rank = (percent / 100) * (count - 1)
  const below = Math.floor(rank)
  const low = at(below)
  const high = at(Math.min(below + 1, count - 1))
  return low + (high - low) * (rank - below)
}

function rankRun(sorted: SortedValues): Ranked {
  return { count: sorted.length, at: (place) => sorted[place] as number }
}

/** Whole numbers are found between the least and the greatest by halves, without merging the runs. */
function rankRuns(runs: readonly SortedValues[]): Ranked {
  const count = runs.reduce((total, { length }) => total + length, 0)
  if (!runs.every(isWhole)) return rankRun(concatenate(runs, count).sort())
  const least = runs.reduce((least, run) => Math.min(least, run[0] ?? least), Number.MAX_VALUE)
  const most = runs.reduce((most, run) => Math.max(most, run[run.length - 1] ?? 0), 0)
  return {
    count,
    at(place) {
      let [low, high] = [least, most]
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        let upTo = 0
        for (const run of runs) upTo += countUpTo(run, middle)
        if (upTo > place) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}

/** How many values of a run are at most `value`. */
function countUpTo(run: SortedValues, value: number): number {
  let [low, high] = [0, run.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((run[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** Only integer arrays are sure to hold whole numbers; loose values are looked at. */
function isWhole(run: SortedValues): boolean {
  return !(run instanceof Float64Array) || run.every(Number.isSafeInteger)
}

function concatenate(runs: readonly SortedValues[], count: number): Float64Array {
  const all = new Float64Array(count)
  let place = 0
  for (const run of runs) {
    all.set(run, place)
    place += run.length
  }
  return all
}
