/** Lists by creation time that show each caller only what it may see. */
import type { Steps } from './steps.ts'

/** Limit: rows of one statement. */
const PART_ROWS = 200

/** Returns the cursor behind a row, or before the first row of the given order. */
export function cursorBehind(
  last: { readonly created_at_us: number; readonly id: string } | null,
  order: 'asc' | 'desc',
) {
  if (last !== null) return { after_us: last.created_at_us, after_id: last.id }
  return { after_us: order === 'asc' ? -1 : Number.MAX_SAFE_INTEGER, after_id: '' }
}

interface ListPart<Row, Shown> {
  readonly rows: readonly Row[]
  /** The rows that the caller may see, in order. */
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
