/** The read job that lists threads: walks the calls of threads in parts and can pause in between. */
import {
  createThreadList,
  type ThreadListing,
  type ThreadSums,
} from '../../../domain/threads/thread-sums.ts'
import type { PackedId } from '../calls/columns/id-columns.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { SELECT_TURNS, SELECT_TURNS_OF_THREAD } from './threads.sql.ts'

/** Limit: calls of one statement. */
const PART_CALLS = 4096

interface TurnRow {
  readonly call_key: number
  readonly place: PackedId
  readonly thread_id: string
  readonly id: string
  readonly is_turn: 0 | 1
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

export const listThreads: ReadJob<ThreadListing, ThreadSums[]> = function* (
  db,
  listing,
  checkpoint,
) {
  const { project_id, thread_ids } = listing
  const list = createThreadList(listing)
  const walks =
    thread_ids === null
      ? [walkParts(db, SELECT_TURNS, { project_id }, checkpoint)]
      : thread_ids.map((thread_id) =>
          walkParts(db, SELECT_TURNS_OF_THREAD, { project_id, thread_id }, checkpoint),
        )
  for (const walk of walks) {
    for (const part of walk) {
      for (const { thread_id, is_turn, ...turn } of part ?? []) {
        list.add(thread_id, is_turn === 1 ? turn : null)
      }
      if (part === null) yield
    }
  }
  return list.page()
}

/** Yields calls in parts; null when the job must pause. */
function* walkParts(
  db: Connection,
  statement: string,
  parameters: Readonly<Record<string, string>>,
  checkpoint: Checkpoint,
): Generator<TurnRow[] | null, void> {
  const select = db.prepare(statement)
  let behind: Pick<TurnRow, 'place' | 'call_key'> = { place: '', call_key: 0 }
  while (true) {
    const rows = select.all({ ...parameters, ...behind, limit: PART_CALLS }) as TurnRow[]
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PART_CALLS) return
    behind = { place: last.place, call_key: last.call_key }
    if (checkpoint()) yield null
  }
}
