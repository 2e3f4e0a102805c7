/**
 * Records of logs that are messages of spans: rows, which are joined to the calls of their spans when these are read. So
 * it does not matter which of them comes first. Records whose span does not come are removed (removal/call-removal.ts).
 */
import { createHash } from 'node:crypto'
import {
  bySpan,
  LOG_BYTES_MAX,
  LOG_SPANS_MAX,
  LOG_WAIT_US,
  LOGS_OF_SPAN_MAX,
  type LoggedSpan,
} from '../../../domain/calls/call-logs.ts'
import { keyOf } from '../../../domain/calls/call-state.ts'
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import { joinStoredLogs, refsOfLog } from '../../../domain/otel/span-logs.ts'
import type { CallLogs } from '../../api/calls/calls.ts'
import type { ClickHouse, Row } from '../db/client.ts'
import type { Inserts } from '../db/inserts.ts'
import { partsOf, type Read } from '../db/reads.ts'
import * as SQL from './call-logs.sql.ts'
import { SELECT_DELETED } from './calls.sql.ts'

/** How far back records may wait: those that are over are removed some minutes later. */
const WAITING_US = 2 * LOG_WAIT_US

interface KnownLogs {
  readonly id: string
  readonly trace_id: string
  readonly hashes: readonly string[]
}

/** The records of stored spans, and whose calls were deleted; by keyOfSpan. */
interface FoundLogs {
  readonly hashes: Map<string, Set<string>>
  readonly deleted: Set<string>
}

type LoggedEvents = ReturnType<typeof bySpan>

/** @param spansMax - limit: waiting spans with records */
export function createLogWrites(
  db: ClickHouse,
  { insert, nextVersion }: Inserts,
  spansMax = LOG_SPANS_MAX,
) {
  /** Upper bound of what waits: the last sum, and what this process has written since. */
  let total = { spans: Infinity, bytes: Infinity }

  async function isFull(now_us: number): Promise<boolean> {
    const isOver = () => total.spans >= spansMax || total.bytes >= LOG_BYTES_MAX
    if (!isOver()) return false
    const window = { from_us: now_us - WAITING_US, before_us: Number.MAX_SAFE_INTEGER }
    const [waiting] = await db.read<typeof total>(SQL.SUM_WAITING_LOGS, window)
    total = waiting ?? { spans: 0, bytes: 0 }
    return isOver()
  }

  return {
    /** @returns how many records were not stored, because too many wait or a span has too many */
    async write({ logs, received_at_us, ref_scheme }: CallLogs): Promise<number> {
      if (await isFull(received_at_us)) return logs.length
      const spans = bySpan(logs)
      const found = await findLogs(db, spans)
      const first = nextVersion()
      const rows: Row[] = []
      let left = 0
      for (const { key, events } of spans) {
        const known = found.hashes.get(keyOfSpan(key)) ?? new Set()
        const added = new Map(events.map((json) => [hashOf(json), json]))
        for (const hash of known) added.delete(hash)
        if (known.size + added.size > LOGS_OF_SPAN_MAX) left += events.length
        else if (!found.deleted.has(keyOf(key))) {
          for (const [event_hash, event_json] of added) {
            const position = first + rows.length
            const size_bytes = Buffer.byteLength(event_json)
            const refs = refsOfLog(event_json, ref_scheme)
            const row = { event_hash, event_json, position, received_at_us, size_bytes }
            rows.push({ ...key, ...row, ...refs })
            total = { ...total, bytes: total.bytes + size_bytes }
          }
        }
      }
      total = { ...total, spans: total.spans + spans.length }
      await insert('call_logs', rows)
      return left
    },
  }
}

async function findLogs(db: ClickHouse, spans: LoggedEvents): Promise<FoundLogs> {
  const found: FoundLogs = { hashes: new Map(), deleted: new Set() }
  for (const [project_id, named] of Map.groupBy(spans, ({ key }) => key.project_id)) {
    for (const ids of partsOf([...new Set(named.map(({ key }) => key.id))])) {
      const [known, deleted] = await Promise.all([
        db.read<KnownLogs>(SQL.SELECT_EVENT_HASHES, { project_id, ids }),
        db.read<{ id: string }>(SELECT_DELETED, { project_id, ids }),
      ])
      for (const { hashes, ...span } of known) {
        found.hashes.set(keyOfSpan({ project_id, ...span }), new Set(hashes))
      }
      for (const { id } of deleted) found.deleted.add(keyOf({ project_id, id }))
    }
  }
  return found
}

function keyOfSpan({ project_id, trace_id, id }: LoggedSpan): string {
  return [project_id, trace_id, id].join('/')
}

function hashOf(event_json: string): string {
  return createHash('sha256').update(event_json).digest('base64')
}

/** Joins records to calls that were read with the bodies which records change. */
export async function joinLogs(
  read: Read,
  project_id: string,
  calls: ReadonlyMap<string, CallTexts>,
): Promise<Map<string, CallTexts>> {
  const joined = new Map(calls)
  type Event = { readonly id: string; readonly trace_id: string; readonly event_json: string }
  for (const ids of partsOf([...calls.keys()])) {
    const found = await read<Event>(SQL.SELECT_EVENTS, { project_id, ids })
    for (const [id, events] of Map.groupBy(found, (event) => event.id)) {
      const call = calls.get(id) as CallTexts
      const own = events.filter(({ trace_id }) => trace_id === call.trace_id)
      joined.set(
        id,
        joinStoredLogs(
          call,
          own.map(({ event_json }) => event_json),
        ),
      )
    }
  }
  return joined
}
