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
