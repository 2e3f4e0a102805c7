/** JSON has no infinities: a number beyond the doubles is told as the last of them. Pure. */
export function withinDoubles(value: number): number {
  return Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE)
}
