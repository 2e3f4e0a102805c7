/** Finds the values at given ranks in several sorted runs without merging them. Pure. */

/** Ascending. */
export type SortedValues = Float64Array | Uint32Array | Uint16Array | Uint8Array

/** The ascending values from `from` to before `to`. */
export interface SortedRun {
  readonly values: SortedValues
  readonly from: number
  readonly to: number
}

/** Limit: number of values that are sorted rather than divided once more. */
const FEW_MAX = 24

/** The candidates for a rank: values from `low` to `high`, at the indexes from `froms` to before `tos`. */
interface Window {
  readonly runs: readonly SortedRun[]
  readonly froms: Uint32Array
  readonly tos: Uint32Array
  low: number
  high: number
  /** Values below `low`. */
  below: number
  /** Values in the window. */
  left: number
}

/**
 * A value is guessed and each run is cut at it, until few candidates for the rank are left.
 * Ranks requested in ascending order are found faster.
 *
 * @param runs - whole numbers; none is empty
 * @returns the value at a place of the order, from 0, and the one behind it; behind the last one stands
 * the last one again
 */
export function createRunSearch(
  runs: readonly SortedRun[],
): (place: number) => readonly [value: number, next: number] {
  const window: Window = {
    runs,
    froms: new Uint32Array(runs.length),
    tos: new Uint32Array(runs.length),
    low: 0,
    high: 0,
    below: 0,
    left: 0,
  }
  const { least, most } = findExtremes(runs)
  const ends = new Uint32Array(runs.length)
  const few = new Float64Array(FEW_MAX)
  let lastPlace = Number.POSITIVE_INFINITY

  /** Starts a search; the bounds found below the last rank remain valid for all later ranks. */
  function begin(place: number): void {
    const isAnew = place < lastPlace
    lastPlace = place
    if (isAnew) {
      window.low = least
      window.below = 0
    }
    window.high = most
    window.left = -window.below
    for (let index = 0; index < runs.length; index++) {
      const { from, to } = runs[index] as SortedRun
      if (isAnew) window.froms[index] = from
      window.tos[index] = to
      window.left += to - from
    }
  }

  return (place) => {
    begin(place)
    narrow(window, place, ends)
    const at = place - window.below
    const isLast = at + 1 >= window.left
    if (window.low === window.high) {
      return [window.low, isLast ? findNext(window, window.low) : window.low]
    }
    gather(window, few)
    const value = few[at] as number
    return [value, isLast ? findNext(window, value) : (few[at + 1] as number)]
  }
}

function findExtremes(runs: readonly SortedRun[]): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const { values, from, to } of runs) {
    least = Math.min(least, values[from] as number)
    most = Math.max(most, values[to - 1] as number)
  }
  return { least, most }
}

/** Until few values are left, or equal ones. */
function narrow(window: Window, place: number, ends: Uint32Array): void {
  for (let round = 0; window.low < window.high && window.left > FEW_MAX; round++) {
    const { low, high } = window
    // Every other time by halves: guesses alone could be bad ones for long.
    const guessed = round % 2 === 1 ? Math.floor((low + high) / 2) : guess(window, place)
    const value = Math.min(Math.max(guessed, low), high - 1)
    const upTo = cut(window, value, ends)
    if (upTo > place) {
      window.high = value
      window.left = upTo - window.below
      window.tos.set(ends)
    } else {
      window.low = value + 1
      window.left -= upTo - window.below
      window.below = upTo
      window.froms.set(ends)
    }
  }
}

/** The value at about the right position in the run with the most candidates. */
function guess({ runs, froms, tos, below, left }: Window, place: number): number {
  let longest = 0
  let length = 0
  for (let index = 0; index < runs.length; index++) {
    const rest = (tos[index] as number) - (froms[index] as number)
    if (rest <= length) continue
    longest = index
    length = rest
  }
  const at = Math.floor((length * (place - below)) / left)
  return (runs[longest] as SortedRun).values[(froms[longest] as number) + at] as number
}

/**
 * Cuts each run after the values up to `value`.
 *
 * @param ends - filled with where they end
 * @returns how many these are, in all runs
 */
function cut({ runs, froms, tos }: Window, value: number, ends: Uint32Array): number {
  let upTo = 0
  for (let index = 0; index < runs.length; index++) {
    const { values, from } = runs[index] as SortedRun
    const end = countUpTo(values, value, froms[index] as number, tos[index] as number)
    ends[index] = end
    upTo += end - from
  }
  return upTo
}

/** Returns the index after the values up to `value`; at least at `from`, at most at `to`. */
function countUpTo(values: SortedValues, value: number, from: number, to: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** Sorts the remaining candidates into `few`. */
function gather({ runs, froms, tos }: Window, few: Float64Array): void {
  let count = 0
  for (let index = 0; index < runs.length; index++) {
    const { values } = runs[index] as SortedRun
    const to = tos[index] as number
    for (let at = froms[index] as number; at < to; at++) {
      const value = values[at] as number
      let hole = count
      for (; hole > 0 && (few[hole - 1] as number) > value; hole--) {
        few[hole] = few[hole - 1] as number
      }
      few[hole] = value
      count += 1
    }
  }
}

/** The least value after the candidates; `last` if there is none. */
function findNext({ runs, tos }: Window, last: number): number {
  let next = Number.POSITIVE_INFINITY
  for (let index = 0; index < runs.length; index++) {
    const { values, to } = runs[index] as SortedRun
    const at = tos[index] as number
    if (at < to && (values[at] as number) < next) next = values[at] as number
  }
  return next === Number.POSITIVE_INFINITY ? last : next
}
