/** Lists by creation time that show each caller only what it may see. */

/** Returns a cursor before the first row of the given order. */
export function placeBefore(order: 'asc' | 'desc') {
  return order === 'asc'
    ? { after_us: -1, after_id: '' }
    : { after_us: Number.MAX_SAFE_INTEGER, after_id: '' }
}

/** Returns the first `count` accepted rows; later rows are not read. */
export function takeAccepted<T>(
  rows: Iterable<T>,
  count: number,
  accepts: (row: T) => boolean,
): T[] {
  const taken: T[] = []
  for (const row of rows) {
    if (accepts(row)) taken.push(row)
    if (taken.length >= count) break
  }
  return taken
}
