/** Clamps numbers to the range of doubles, since JSON has no infinity. Pure. */
export function withinDoubles(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}
