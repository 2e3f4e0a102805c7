/** The writes of pieces: each only while the hour's pieces are as they were when it was built. */
import type { Connection } from '../../../db/connection.ts'
import type { HourState } from '../live-hours.ts'
import * as SQL from '../segments.sql.ts'
import { columnKey, segmentKey, segmentRange } from '../stored-hours.ts'
import type { BuiltPiece } from './build-job.ts'

/** Some columns of a piece; the head comes with the last ones. */
interface PieceBatch extends Omit<BuiltPiece, 'head'> {
  readonly isFirst: boolean
  readonly head: Uint8Array | null
}

export function createSegmentWrites(db: Connection) {
  const selectHour = db.prepare(SQL.SELECT_HOUR)
  const putColumn = db.prepare(SQL.PUT_COLUMN)
  const putHead = db.prepare(SQL.PUT_HEAD)
  const deleteHeads = db.prepare(SQL.DELETE_HEADS)
  const deleteColumns = db.prepare(SQL.DELETE_COLUMNS)
  const settleHour = db.prepare(SQL.SETTLE_HOUR)
  const deleteChanges = db.prepare(SQL.DELETE_CHANGES)
  const raiseGeneration = db.prepare(SQL.RAISE_GENERATION)
  const spoilHour = db.prepare(SQL.SPOIL_HOUR)

  function isAsRead(built: PieceBatch): boolean {
    const state = selectHour.get({ hour_key: built.hour_key }) as HourState | undefined
    if (state?.generation !== built.generation) return false
    if (state.built_revision !== built.built_revision) return false
    // Rows that were read in several goes are of one state.
    const isOneOfMany = built.built_revision === null && (built.piece > 0 || built.rest !== null)
    return !isOneOfMany || state.revision === built.to_revision
  }

  function deletePieces(range: { from_key: number; to_key: number }): void {
    deleteHeads.run(range)
    deleteColumns.run(range)
  }

  /** Has the piece answer, in the place of the one that it replaces. */
  function settle(built: PieceBatch, segment_key: number): void {
    const { hour_key, to_revision, replaces, entries, piece } = built
    if (replaces !== null) deletePieces({ from_key: replaces, to_key: replaces })
    putHead.run({ segment_key, body: built.head })
    if (built.isThinned) raiseGeneration.run({ hour_key })
    if (built.rest || built.isThinned) return
    settleHour.run({ hour_key, to_revision, entries, pieces: piece + 1 })
    deleteChanges.run({ hour_key, to_revision })
  }

  return {
    /** False, and nothing written, when the hour has been built or rewritten since it was read. */
    put_segment(batch: PieceBatch): boolean {
      const { hour_key, piece, replaces } = batch
      if (!isAsRead(batch)) return false
      const first = segmentKey(hour_key, piece)
      const segment_key = replaces === first ? segmentKey(hour_key, piece, 1) : first
      const isAnew = batch.built_revision === null && piece === 0 && batch.isFirst
      if (isAnew) deletePieces(segmentRange(hour_key))
      for (const { column, body } of batch.columns) {
        putColumn.run({ column_key: columnKey(segment_key, column), body })
      }
      if (batch.head !== null) settle(batch, segment_key)
      return true
    },
    /** Has hours built again. */
    spoil_hours(hour_keys: readonly number[]): void {
      for (const hour_key of hour_keys) spoilHour.run({ hour_key })
    },
  }
}
