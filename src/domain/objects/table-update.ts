/** Applies changes to a table, from the row digests of the old one to those of the new one. Pure. */
import { refuseField } from '../../errors.ts'
import { TABLE_ROWS_MAX } from '../../schemas/objects/table.ts'

/** A change whose row, where it has one, has been digested. */
export type TableChange =
  | { readonly kind: 'append'; readonly digest: string }
  | { readonly kind: 'pop'; readonly index: number }
  | { readonly kind: 'insert'; readonly index: number; readonly digest: string }

interface TableUpdate {
  /** The rows of the new table, in order. */
  readonly row_digests: readonly string[]
  /** For each change the row that it added or removed. */
  readonly updated_row_digests: readonly string[]
}

/** Limit: changes in the middle of a table; each moves all rows behind it, half a millisecond at the most. */
export const MOVES_MAX = 1000

/**
 * Applies changes one after the other. Places are those after the changes before.
 *
 * @param rows - ownership passes to this function
 * @throws ApiError validation_failed, param `updates[2].pop.index`, for a place outside the table and
 * for more than MOVES_MAX places or TABLE_ROWS_MAX rows
 */
export function applyTableChanges(rows: string[], changes: readonly TableChange[]): TableUpdate {
  const updated: string[] = []
  let moves = 0
  for (const [at, change] of changes.entries()) {
    if (change.kind === 'append') {
      rows.push(change.digest)
      updated.push(change.digest)
    } else {
      const { kind, index } = change
      const last = kind === 'pop' ? rows.length - 1 : rows.length
      if (index > last) refuseField(`updates[${at}].${kind}.index`, 'lies outside of the table')
      moves += 1
      if (moves > MOVES_MAX)
        refuseField('updates', `must have at most ${MOVES_MAX} pops and inserts`)
      const taken = kind === 'pop' ? rows.splice(index, 1) : [change.digest]
      if (kind === 'insert') rows.splice(index, 0, change.digest)
      updated.push(...taken)
    }
    if (rows.length > TABLE_ROWS_MAX)
      refuseField('updates', `must leave at most ${TABLE_ROWS_MAX} rows`)
  }
  return { row_digests: rows, updated_row_digests: updated }
}
