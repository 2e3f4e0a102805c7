/** The writes of segments: each only while its hour is as it was read. */
import type { Connection } from '../../db/connection.ts'
import type { BuiltHour } from './build-job.ts'
import * as SQL from './segments.sql.ts'
import { columnKey } from './stored-hours.ts'

/** Some columns of an hour; the head comes with the last ones. */
export interface SegmentPiece extends Pick<BuiltHour, 'hour_key' | 'revision' | 'columns'> {
  readonly head: Uint8Array | null
}

export function createSegmentWrites(db: Connection) {
  const isHourAt = db.prepare(SQL.IS_HOUR_AT).pluck()
  const putColumn = db.prepare(SQL.PUT_COLUMN)
  const putHead = db.prepare(SQL.PUT_HEAD)
  const cleanHour = db.prepare(SQL.CLEAN_HOUR)
  const spoilHour = db.prepare(SQL.SPOIL_HOUR)
  return {
    /** False, and nothing written, when the hour has changed since it was read. */
    put_segment({ hour_key, revision, columns, head }: SegmentPiece): boolean {
      if (isHourAt.get({ hour_key, revision }) !== 1) return false
      for (const { column, body } of columns) {
        putColumn.run({ column_key: columnKey(hour_key, column), body })
      }
      if (head === null) return true
      putHead.run({ hour_key, body: head })
      cleanHour.run({ hour_key })
      return true
    },
    /** Has hours built again. */
    spoil_hours(hour_keys: readonly number[]): void {
      for (const hour_key of hour_keys) spoilHour.run({ hour_key })
    },
  }
}
