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
  /** The value at a place and the one behind it; behind the last one stands the last one again. */
  pair(place: number): readonly [value: number, next: number]
}

function interpolate({ count, pair }: Ranked, percent: number): number {
  const rank = (percent / 100) * (count - 1)
  const below = Math.floor(rank)
  const [low, high] = pair(below)
  return low + (high - low) * (rank - below)
}

function rankRun(sorted: SortedValues): Ranked {
  const count = sorted.length
  return {
    count,
    pair: (place) => [sorted[place] as number, sorted[Math.min(place + 1, count - 1)] as number],
  }
}

/** Whole numbers are found between the least and the greatest by halves, without merging the runs. */
function rankRuns(runs: readonly SortedValues[]): Ranked {
  const count = runs.reduce((total, { length }) => total + length, 0)
  if (!runs.every(isWhole)) return rankRun(concatenate(runs, count).sort())
  const least = runs.reduce((least, run) => Math.min(least, run[0] ?? least), Number.MAX_VALUE)
  const most = runs.reduce((most, run) => Math.max(most, run[run.length - 1] ?? 0), 0)

  /** Where the value of a place, and the values up to it, end in each run. */
  function search(place: number): { value: number; ends: Uint32Array } {
    const froms = new Uint32Array(runs.length)
    const tos = Uint32Array.from(runs, ({ length }) => length)
    const ends = tos.slice()
    let [low, high] = [least, most]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      let upTo = 0
      for (let index = 0; index < runs.length; index++) {
        const run = runs[index] as SortedValues
        const end = countUpTo(run, middle, froms[index] as number, tos[index] as number)
        ends[index] = end
        upTo += end
      }
      if (upTo > place) {
        high = middle
        tos.set(ends)
      } else {
        low = middle + 1
        froms.set(ends)
      }
    }
    return { value: low, ends: tos }
  }

  return {
    count,
    pair(place) {
      const { value, ends } = search(place)
      const upTo = ends.reduce((total, end) => total + end, 0)
      if (upTo > place + 1 || place + 1 >= count) return [value, value]
      const next = runs.reduce(
        (next, run, index) => Math.min(next, run[ends[index] as number] ?? next),
        Number.MAX_VALUE,
      )
      return [value, next]
    },
  }
}

/** How many values of a run are at most `value`; at least `from` and at most `to` are. */
function countUpTo(run: SortedValues, value: number, from: number, to: number): number {
  let [low, high] = [from, to]
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
