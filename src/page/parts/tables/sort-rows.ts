/** Sorts and ranks rows by a number that some of them lack. Pure. */

/** Returns a sorted copy. Rows without the number come last, in their original order. */
export function sortByNumber<Row>(
  rows: readonly Row[],
  direction: 'asc' | 'desc',
  numberIn: (row: Row) => number | null,
): readonly Row[] {
  const sign = direction === 'asc' ? 1 : -1
  const known = rows.flatMap((row) => {
    const number = numberIn(row)
    return number === null ? [] : [{ row, number }]
  })
  const unknown = rows.filter((row) => numberIn(row) === null)
  known.sort((left, right) => sign * (left.number - right.number))
  return [...known.map(({ row }) => row), ...unknown]
}

/** The ranks of rows, from 1: equal numbers share one, and rows without the number have none. */
export function ranksByNumber<Row>(
  rows: readonly Row[],
  best: 'asc' | 'desc',
  numberIn: (row: Row) => number | null,
): ReadonlyMap<Row, number> {
  const ranks = new Map<Row, number>()
  let [last, rank]: [number | null, number] = [null, 0]
  for (const [at, row] of sortByNumber(rows, best, numberIn).entries()) {
    const number = numberIn(row)
    if (number === null) break
    if (number !== last) [last, rank] = [number, at + 1]
    ranks.set(row, rank)
  }
  return ranks
}
