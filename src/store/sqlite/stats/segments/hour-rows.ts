/** Reads the rows of an hour into columns. */
import { latencyMs } from '../../../../domain/calls/call-view.ts'
import type { Connection } from '../../db/connection.ts'
import { createGrowingHour, type GrowingHour, HOUR_ROWS_MAX, HOUR_US } from './hour-columns.ts'
import { SELECT_ENDED_CALLS, SELECT_HOUR_CALLS, SELECT_NEW_HOUR_CALLS } from './segments.sql.ts'

/** Limit: rows between two looks at whether somebody still waits. */
const CHECKPOINT_ROWS = 4096
/** Limit: keys of one statement; a long list of them takes some megabytes on its way. */
const KEYS_MAX = 4096

/** A call, once for each model of its usage; all of the usage is null where it has none. */
type HourRow = [
  callKey: number,
  startedAtUs: number,
  endedAtUs: number | null,
  isError: number,
  isRoot: number,
  op: string,
  user: string | null,
  run: string | null,
  model: string | null,
  input: number,
  output: number,
  total: number,
  cacheRead: number,
  cacheCreation: number,
  uncached: number,
]

export interface HourId {
  readonly project_id: string
  readonly hour: number
}

/** The columns of an hour, and what is needed to go on from there. */
export interface LoadedHour {
  readonly columns: GrowingHour
  /** Places of the calls that still run, by their keys. */
  readonly running: Map<number, number>
}

/** Reads all calls of an hour. */
export function loadHour(db: Connection, id: HourId, checkpoint: () => void): LoadedHour {
  const loaded = { columns: createGrowingHour(), running: new Map<number, number>() }
  const rows = db.prepare(SELECT_HOUR_CALLS).raw().iterate(windowOf(id))
  addRows(loaded, id, rows as IterableIterator<HourRow>, checkpoint)
  return loaded
}

/** Adds the calls whose rows came after `after_key`, and the ends of those that still ran. */
export function extendHour(
  db: Connection,
  id: HourId,
  loaded: LoadedHour,
  after_key: number,
  checkpoint: () => void,
): void {
  const selectEnded = db.prepare(SELECT_ENDED_CALLS).raw()
  const running = Float64Array.from(loaded.running.keys())
  for (let from = 0; from < running.length; from += KEYS_MAX) {
    const call_keys = JSON.stringify([...running.subarray(from, from + KEYS_MAX)])
    const ended = selectEnded.iterate({ call_keys })
    addRows(loaded, id, ended as IterableIterator<HourRow>, checkpoint)
  }
  const rows = db
    .prepare(SELECT_NEW_HOUR_CALLS)
    .raw()
    .iterate({ after_key, ...windowOf(id) })
  addRows(loaded, id, rows as IterableIterator<HourRow>, checkpoint)
}

function windowOf({ project_id, hour }: HourId) {
  return { project_id, from_us: hour * HOUR_US, to_us: (hour + 1) * HOUR_US }
}

/** @param rows - those of a call follow each other */
function addRows(
  { columns, running }: LoadedHour,
  { hour }: HourId,
  rows: IterableIterator<HourRow>,
  checkpoint: () => void,
): void {
  let callKey = -1
  let place = -1
  let count = 0
  for (const row of rows) {
    count += 1
    if (count % CHECKPOINT_ROWS === 0) checkpoint()
    // It does not fit any more, whatever follows.
    if (columns.count > HOUR_ROWS_MAX) return
    if (row[0] !== callKey) {
      callKey = row[0]
      place = running.get(callKey) ?? addCall(columns, hour, row)
      if (row[2] === null) {
        running.set(callKey, place)
      } else {
        running.delete(callKey)
        columns.endCall(place, latencyMs(row[1], row[2]), row[3] === 1)
      }
    }
    if (row[8] !== null) addUsage(columns, place, row, row[8])
  }
}

function addCall(columns: GrowingHour, hour: number, row: HourRow): number {
  return columns.addCall({
    offsetUs: row[1] - hour * HOUR_US,
    isRoot: row[4] === 1,
    op: row[5],
    user: row[6],
    run: row[7],
  })
}

function addUsage(columns: GrowingHour, place: number, row: HourRow, model: string): void {
  columns.addUsage(place, {
    model,
    input_tokens: row[9],
    output_tokens: row[10],
    total_tokens: row[11],
    cache_read_input_tokens: row[12],
    cache_creation_input_tokens: row[13],
    uncached_input_tokens: row[14],
  })
}
