/** The writes of segments. Each is refused when the segments of its hour have changed since it was built. */
import type { Connection } from '../../../db/connection.ts'
import type { HourState } from '../live-hours.ts'
import * as SQL from '../segments.sql.ts'
import { columnKey, segmentKey, segmentRange } from '../stored-hours.ts'
import type { BuiltSegment } from './build-job.ts'

/** Some columns of a segment; the last batch also has the head. */
interface SegmentBatch extends Omit<BuiltSegment, 'head'> {
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
  const invalidateHour = db.prepare(SQL.INVALIDATE_HOUR)

  function isAsRead(built: SegmentBatch): boolean {
    const state = selectHour.get({ hour_key: built.hour_key }) as HourState | undefined
    if (state?.generation !== built.generation) return false
    if (state.built_revision !== built.built_revision) return false
    // Pieces from rows are read in several jobs, which must all see the same state.
    const isOneOfMany = built.built_revision === null && (built.piece > 0 || built.rest !== null)
    return !isOneOfMany || state.revision === built.to_revision
  }

  function deleteSegments(range: { from_key: number; to_key: number }): void {
    deleteHeads.run(range)
    deleteColumns.run(range)
  }

  /** Puts the segment into use and deletes the one it replaces. */
  function settle(built: SegmentBatch, segment_key: number): void {
    const { hour_key, to_revision, replaces, entries, piece } = built
    if (replaces !== null) deleteSegments({ from_key: replaces, to_key: replaces })
    putHead.run({ segment_key, body: built.head })
    if (built.isThinned) raiseGeneration.run({ hour_key })
    if (built.rest || built.isThinned) return
    settleHour.run({ hour_key, to_revision, entries, pieces: piece + 1 })
    deleteChanges.run({ hour_key, to_revision })
  }

  return {
    /** Writes a batch. Returns false and writes nothing when the hour has been built or rewritten since it was read. */
    put_segment(batch: SegmentBatch): boolean {
      const { hour_key, piece, replaces } = batch
      if (!isAsRead(batch)) return false
      const first = segmentKey(hour_key, piece)
      const segment_key = replaces === first ? segmentKey(hour_key, piece, 1) : first
      const isAnew = batch.built_revision === null && piece === 0 && batch.isFirst
      if (isAnew) deleteSegments(segmentRange(hour_key))
      for (const { column, body } of batch.columns) {
        putColumn.run({ column_key: columnKey(segment_key, column), body })
      }
      if (batch.head !== null) settle(batch, segment_key)
      return true
    },
    /** Invalidates the segments of hours, so that they are built again. */
    invalidate_hours(hour_keys: readonly number[]): void {
      for (const hour_key of hour_keys) invalidateHour.run({ hour_key })
    },
  }
}
