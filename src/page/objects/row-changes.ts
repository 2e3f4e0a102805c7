/** Compares the rows of two tables. Pure. */
import { isExactNumber, textOf } from '../api/exact-json.ts'

/** A row of a table. */
export interface Row {
  readonly digest: string
  readonly val: unknown
  readonly original_index: number
}

export interface RowChange {
  readonly kind: 'changed' | 'removed' | 'added'
  readonly before: Row | null
  readonly after: Row | null
}

/**
 * Rows with the same digest are equal, whatever their position. Of the others, two with the same `id` or at the same
 * position are one changed row.
 */
export function listRowChanges(before: readonly Row[], after: readonly Row[]): RowChange[] {
  const removed = without(before, after)
  const added = without(after, before)
  const pairs = pairRows(removed, added)
  const paired = new Set(pairs.values())
  const changes: RowChange[] = removed.map((row) => {
    const other = pairs.get(row) ?? null
    return { kind: other === null ? 'removed' : 'changed', before: row, after: other }
  })
  for (const row of added)
    if (!paired.has(row)) changes.push({ kind: 'added', before: null, after: row })
  return changes.sort((left, right) => indexOf(left) - indexOf(right))
}

function indexOf({ before, after }: RowChange): number {
  return (after ?? before)?.original_index ?? 0
}

/** The rows missing in the other table; equal rows are counted. */
function without(rows: readonly Row[], others: readonly Row[]): Row[] {
  const counts = new Map<string, number>()
  for (const { digest } of others) counts.set(digest, (counts.get(digest) ?? 0) + 1)
  return rows.filter(({ digest }) => {
    const left = counts.get(digest) ?? 0
    counts.set(digest, left - 1)
    return left <= 0
  })
}

function pairRows(removed: readonly Row[], added: readonly Row[]): Map<Row, Row> {
  const pairs = new Map<Row, Row>()
  const open = new Set(added)
  for (const keyOf of [idOf, ({ original_index }: Row) => original_index]) {
    const byKey = new Map<unknown, Row>()
    for (const row of open) if (keyOf(row) !== undefined) byKey.set(keyOf(row), row)
    for (const row of removed) {
      const other = pairs.has(row) ? undefined : byKey.get(keyOf(row))
      if (other === undefined || !open.delete(other)) continue
      pairs.set(row, other)
    }
  }
  return pairs
}

function idOf({ val }: Row): string | undefined {
  const id = (val as { id?: unknown } | null)?.id
  const isName = typeof id === 'string' || typeof id === 'number' || isExactNumber(id)
  return isName ? textOf(id) : undefined
}
