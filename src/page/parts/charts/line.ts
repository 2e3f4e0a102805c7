/** A line of a chart. */
export interface Line {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A name of a colour of the style sheet; by default the next one. */
  readonly color?: string
}

/** Limit: points of a line that are distinguished. */
const POINTS_MAX = 60

/**
 * The indexes of a line's values that have a point; null for all. Few steps have one each. Of others only isolated
 * values have one, because they have no line.
 */
export function pointsOf(
  values: ArrayLike<number | null | undefined>,
  isEach: boolean,
): number[] | null {
  if (isEach && values.length <= POINTS_MAX) return null
  const has = (at: number) => values[at] !== null && values[at] !== undefined
  const all = Array.from({ length: values.length }, (_, at) => at)
  return all.filter((at) => has(at) && !has(at - 1) && !has(at + 1))
}
