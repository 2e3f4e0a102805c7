/** The read job that turns the rows of an hour into its segment. */

import type { Connection } from '../../db/connection.ts'
import { type HourId, loadHour } from './hour-rows.ts'
import { type EncodedHour, encodeHour } from './segment-build.ts'
import { SELECT_HOUR } from './segments.sql.ts'

/** A segment and the state of the hour that it was built from. */
export interface BuiltHour extends EncodedHour {
  readonly hour_key: number
  readonly revision: number
}

/** The segment of an hour; null when there is no such hour. */
export function buildSegment(
  db: Connection,
  { hour_key }: { readonly hour_key: number },
  checkpoint: () => void,
): BuiltHour | null {
  const hour = db.prepare(SELECT_HOUR).get({ hour_key }) as
    | (HourId & { readonly revision: number })
    | undefined
  if (!hour) return null
  const { columns } = loadHour(db, hour, checkpoint)
  return { hour_key, revision: hour.revision, ...encodeHour(columns, hour.revision) }
}
