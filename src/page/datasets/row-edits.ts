/** Changes of the rows of a dataset that are not saved yet. Pure. */
import { parseExact } from '../api/exact-json.ts'
import { membersOf } from '../api/wire.ts'
import type { Row, RowChange } from '../objects/row-changes.ts'
import { canonicalText } from '../objects/value-changes.ts'

/** Limits: rows that are changed or removed, and rows that are added, in one version. */
export const CHANGED_MAX = 1000
const ADDED_MAX = 5000

/** A change of a table, as `/table/update` takes it. */
export type TableUpdate =
  | { readonly append: { readonly row: object } }
  | { readonly pop: { readonly index: number } }
  | { readonly insert: { readonly index: number; readonly row: object } }

interface RowEdit {
  readonly before: Row
  /** Null: the row is removed. */
  readonly val: object | null
}

export interface RowEdits {
  /** By the index of the row in the table. */
  readonly changed: ReadonlyMap<number, RowEdit>
  readonly added: readonly object[]
}

export const NO_EDITS: RowEdits = { changed: new Map(), added: [] }

export function hasEdits({ changed, added }: RowEdits): boolean {
  return changed.size > 0 || added.length > 0
}

/** @param val - null removes the row @throws Error for more changes than one version may have */
export function withChange(
  { changed, added }: RowEdits,
  before: Row,
  val: object | null,
): RowEdits {
  const others = new Map(changed)
  others.delete(before.original_index)
  if (val !== null && canonicalText(val) === canonicalText(before.val))
    return { changed: others, added }
  if (others.size >= CHANGED_MAX)
    throw new Error(`At most ${CHANGED_MAX} rows can be changed at once: save these first.`)
  return { changed: others.set(before.original_index, { before, val }), added }
}

/** @throws Error for more rows than one version may add */
export function withAdded({ changed, added }: RowEdits, rows: readonly object[]): RowEdits {
  if (added.length + rows.length > ADDED_MAX)
    throw new Error(`At most ${ADDED_MAX} rows can be added at once: save these first.`)
  return { changed, added: [...added, ...rows] }
}

/** @param row - null removes it */
export function withAddedAt(
  { changed, added }: RowEdits,
  at: number,
  row: object | null,
): RowEdits {
  return { changed, added: row === null ? added.toSpliced(at, 1) : added.with(at, row) }
}

/** The updates of the table, from its end, so that none moves a row that another changes. */
export function updatesOf({ changed, added }: RowEdits): TableUpdate[] {
  const edits = [...changed].sort(([left], [right]) => right - left)
  return [
    ...edits.flatMap(([index, { val }]): TableUpdate[] =>
      val === null
        ? [{ pop: { index } }]
        : [{ insert: { index, row: val } }, { pop: { index: index + 1 } }],
    ),
    ...added.map((row) => ({ append: { row } })),
  ]
}

/** The changes in the order of the table. @param count - rows of the table */
export function listEdits({ changed, added }: RowEdits, count: number): RowChange[] {
  const edits = [...changed].sort(([left], [right]) => left - right)
  const rowOf = (val: unknown, original_index: number): Row => ({ digest: '', val, original_index })
  return [
    ...edits.map(
      ([index, { before, val }]): RowChange =>
        val === null
          ? { kind: 'removed', before, after: null }
          : { kind: 'changed', before, after: rowOf(val, index) },
    ),
    ...added.map(
      (row, at): RowChange => ({ kind: 'added', before: null, after: rowOf(row, count + at) }),
    ),
  ]
}

interface Moved {
  readonly edits: RowEdits
  /** Changed rows that the other version does not have; their changes are added as new rows. */
  readonly lost: number
}

/**
 * Moves changes to another version of the table: each to the row with the same content.
 *
 * @param found - the rows of the other version with these contents
 */
export function moveEdits({ changed, added }: RowEdits, found: readonly Row[]): Moved {
  const open = Map.groupBy(found, ({ digest }) => digest)
  const moved = new Map<number, RowEdit>()
  const lost: object[] = []
  for (const { before, val } of changed.values()) {
    const row = open.get(before.digest)?.shift()
    if (row !== undefined) moved.set(row.original_index, { before: row, val })
    else if (val !== null) lost.push(val)
  }
  return { edits: { changed: moved, added: [...added, ...lost] }, lost: lost.length }
}

/** @throws Error for a text that is no JSON object */
export function readRow(text: string): object {
  try {
    const row = parseExact(text)
    if (membersOf(row) === row) return row as object
  } catch {
    // Thrown below.
  }
  throw new Error('The row is not a JSON object.')
}
