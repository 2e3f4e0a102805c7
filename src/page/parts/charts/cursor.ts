/** A cursor on the buckets of a chart, which keys move. Pure. */

export interface Cursor {
  /** The current bucket by its value in `times`: its index would change when newer buckets arrive. */
  readonly at: number
  /** The other end of the selected range; the same bucket if nothing is selected. */
  readonly anchor: number
}

export interface Buckets {
  readonly times: readonly number[]
  /** End of the last bucket. */
  readonly end: number
}

interface Shown extends Buckets {
  readonly lines: readonly {
    readonly label: string
    readonly values: readonly (number | null)[]
  }[]
  readonly format: (value: number) => string
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
}

/** Returns a cursor on the newest bucket; null if there is none. */
export function newCursor(times: readonly number[]): Cursor | null {
  const at = times.at(-1)
  return at === undefined ? null : { at, anchor: at }
}

/** @returns null for a key that moves nothing */
export function moveCursor(
  times: readonly number[],
  { at, anchor }: Cursor,
  key: string,
  isStretching: boolean,
): Cursor | null {
  const step = STEPS[key]
  if (step === undefined) return null
  const index = Math.max(0, Math.min(times.length - 1, times.indexOf(at) + step))
  const next = times[index]
  return next === undefined ? null : { at: next, anchor: isStretching ? anchor : next }
}

export function hasTimeSpan({ at, anchor }: Cursor): boolean {
  return at !== anchor
}

/** Returns the selected range, from the start of its first bucket to the end of its last. */
export function selectedRange({ times, end }: Buckets, { at, anchor }: Cursor): [number, number] {
  const [from, last] = [Math.min(at, anchor), Math.max(at, anchor)]
  return [from, times[times.indexOf(last) + 1] ?? end]
}

/** @param name - of a bucket */
export function describeCursor(
  { times, end, lines, format }: Shown,
  cursor: Cursor,
  name: (time: number) => string,
): string {
  const index = times.indexOf(cursor.at)
  const values = lines.map(({ label, values }) => {
    const value = values[index] ?? null
    return `${label} ${value === null ? 'none' : format(value)}`
  })
  const words = `${name(cursor.at)}: ${values.join(', ')}`
  if (!hasTimeSpan(cursor)) return words
  const [from, to] = selectedRange({ times, end }, cursor)
  return `${words}; from ${name(from)} to ${name(to)} is chosen`
}
