/** Exact percentiles over loose values and runs that are sorted already, without sorting all of them. Pure. */

/** Ascending. */
export type SortedValues = Float64Array | Uint32Array | Uint16Array | Uint8Array

const LOOSE_MIN = 64
/** Whole numbers below it may be counted one by one: 4 MB of counters. */
const COUNTED_BELOW = 2 ** 20

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

function rankRuns(runs: readonly SortedValues[]): Ranked {
  const count = runs.reduce((total, { length }) => total + length, 0)
  const max = runs.reduce((most, run) => Math.max(most, run[run.length - 1] ?? 0), 0)
  // Merging walks all values once for each halving of the runs, counting all counters a few times.
  const isCheaper = max < count * (Math.log2(runs.length) - 1)
  if (max < COUNTED_BELOW && isCheaper && runs.every(isWholeRun)) {
    return rankCounted(runs, count, max)
  }
  return rankRun(mergeRuns(runs))
}

function mergeRuns(runs: readonly SortedValues[]): SortedValues {
  let merged = runs
  while (merged.length > 1) {
    merged = Array.from({ length: Math.ceil(merged.length / 2) }, (_, pair) => {
      const [left, right] = [merged[2 * pair], merged[2 * pair + 1]]
      return left && right ? mergeTwo(left, right) : (left ?? new Float64Array())
    })
  }
  return merged[0] ?? new Float64Array()
}

function mergeTwo(left: SortedValues, right: SortedValues): SortedValues {
  const length = left.length + right.length
  const isWhole = isWholeRun(left) && isWholeRun(right)
  const merged = isWhole ? new Uint32Array(length) : new Float64Array(length)
  let [fromLeft, fromRight] = [0, 0]
  for (let place = 0; place < length; place++) {
    const isLeft =
      fromRight >= right.length ||
      (fromLeft < left.length && (left[fromLeft] as number) <= (right[fromRight] as number))
    if (isLeft) merged[place] = left[fromLeft++] as number
    else merged[place] = right[fromRight++] as number
  }
  return merged
}

/** Integer arrays hold whole numbers; others might hold fractions. */
function isWholeRun(run: SortedValues): boolean {
  return !(run instanceof Float64Array)
}

/** One counter a value: each run is walked once, in order of the counters. */
function rankCounted(runs: readonly SortedValues[], count: number, max: number): Ranked {
  const counters = new Uint32Array(max + 1)
  for (const run of runs) countRun(run, counters)
  return {
    count,
    at(place) {
      let left = place
      let value = 0
      while (left >= (counters[value] as number)) {
        left -= counters[value] as number
        value += 1
      }
      return value
    },
  }
}

function countRun(run: SortedValues, counters: Uint32Array): void {
  for (let index = 0; index < run.length; index++) {
    const value = run[index] as number
    counters[value] = (counters[value] as number) + 1
  }
}
