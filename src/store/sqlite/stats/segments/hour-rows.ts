/** Reads the rows of the calls of an hour as entries. */
import type { CountedUsage } from '../../../../domain/usage/own-usage.ts'
import type { Connection } from '../../db/connection.ts'
import { readCounted } from '../../usage/usage-rows.ts'
import { type GrowingHour, HOUR_US, type HourEntry } from './hour-columns.ts'
import { toEntry } from './hour-entries.ts'
import { SELECT_HOUR_CALL, SELECT_HOUR_CALLS } from './segments.sql.ts'

/** Limit: rows between two checkpoints, which notice a cancelled read. */
const CHECKPOINT_ROWS = 4096

/** A call and one row of its call_usage, all null when it has none; one for each model. */
type HourRow = [
  callKey: number,
  startedAtUs: number,
  endedAtUs: number | null,
  isError: number,
  isRoot: number,
  op: string,
  user: string | null,
  run: string | null,
  endUser: string | null,
  model: string | null,
  ...usage: unknown[],
]
const USAGE_AT = 9

export interface HourId {
  readonly project_id: string
  readonly hour: number
}

/** The position of a call in its hour, by time and key. */
export interface HourPosition {
  readonly from_us: number
  readonly after_key: number
}

/**
 * Adds the calls of an hour, one entry each, in time order.
 *
 * @param after - skips the calls up to this one; null skips none
 * @param isFull - called before each call
 * @returns the last call added when `isFull` stopped it, or null when there are no more
 */
export function addRows(
  db: Connection,
  { project_id, hour }: HourId,
  columns: GrowingHour,
  after: HourPosition | null,
  isFull: () => boolean,
  checkpoint: () => void,
): HourPosition | null {
  const hourUs = hour * HOUR_US
  const place = after ?? { from_us: hourUs, after_key: -1 }
  const bound = { project_id, ...place, to_us: hourUs + HOUR_US }
  const rows = db.prepare(SELECT_HOUR_CALLS).raw().iterate(bound) as IterableIterator<HourRow>
  let call: HourRow | null = null
  let usage: CountedUsage[] = []
  let count = 0
  const addCall = () => {
    if (call) columns.add(toRowEntry(call, hourUs, usage))
  }
  for (const row of rows) {
    count += 1
    if (count % CHECKPOINT_ROWS === 0) checkpoint()
    if (row[0] !== call?.[0]) {
      addCall()
      if (call && isFull()) return { from_us: call[1], after_key: call[0] }
      call = row
      usage = []
    }
    if (row[USAGE_AT] !== null) usage.push(...readCounted(row, USAGE_AT))
  }
  addCall()
  return null
}

/** Returns a reader of a call as one entry of its hour; null when it does not count. */
export function createEntryReader(db: Connection) {
  const select = db.prepare(SELECT_HOUR_CALL).raw()

  return (call_key: number | bigint, hour: number): HourEntry | null => {
    const rows = select.all({ call_key }) as HourRow[]
    const [call] = rows
    if (!call) return null
    const usage = call[USAGE_AT] === null ? [] : rows.flatMap((row) => readCounted(row, USAGE_AT))
    return toRowEntry(call, hour * HOUR_US, usage)
  }
}

function toRowEntry(row: HourRow, hourUs: number, usage: readonly CountedUsage[]) {
  const call = {
    started_at_us: row[1],
    is_root: row[4] === 1,
    op_name: row[5],
    svc_user_id: row[6],
    svc_run_id: row[7],
    end_user_id: row[8],
  }
  const exception = row[3] === 1 ? '' : null
  return toEntry(
    row[0],
    call,
    hourUs,
    true,
    row[2] === null ? null : { ended_at_us: row[2], exception, usage },
  )
}
