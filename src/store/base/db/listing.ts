/** Lists by creation time that show each caller only what it may see. */
import type { Steps } from './steps.ts'

/** Limit: rows of one statement. */
const PART_ROWS = 200

/** Returns a cursor before the first row of the given order. */
export function placeBefore(order: 'asc' | 'desc') {
  return order === 'asc'
    ? { after_us: -1, after_id: '' }
    : { after_us: Number.MAX_SAFE_INTEGER, after_id: '' }
}

interface ListPart<Row, Shown> {
  readonly rows: readonly Row[]
  /** Those that the caller may see, in order. */
  readonly shown: readonly Shown[]
}

/**
 * Returns the first `count` rows after one that are shown. Later rows are not read, but for the rest of a part.
 *
 * @param after - null: from the beginning
 */
export function* listParts<Row, Shown>(
  after: Row | null,
  count: number,
  read: (last: Row | null, limit: number) => Steps<ListPart<Row, Shown>>,
): Steps<Shown[]> {
  const taken: Shown[] = []
  let last = after
  let limit = Math.min(count, PART_ROWS)
  while (taken.length < count) {
    const { rows, shown } = yield* read(last, limit)
    taken.push(...shown.slice(0, count - taken.length))
    last = rows.at(-1) ?? null
    if (rows.length < limit || last === null) break
    limit = PART_ROWS
  }
  return taken
}
