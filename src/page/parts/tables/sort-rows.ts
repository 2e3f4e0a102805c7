/** Rows by a number that not all of them have. Pure. */

/** A new list, in which those without the number come last in the order that they had. */
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
