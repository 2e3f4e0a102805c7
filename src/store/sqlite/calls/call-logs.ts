/**
 * Records of logs that belong to the spans of calls. They come before their span or after it, and wait in a table of
 * their own; joined ones stay there a while, so that a span that is sent again equals the stored one. All runs inside the
 * caller's transaction.
 */
import {
  bySpan,
  LOG_BYTES_MAX,
  LOG_SPANS_MAX,
  LOG_WAIT_US,
  LOGS_OF_SPAN_MAX,
  type LoggedSpan,
} from '../../../domain/calls/call-logs.ts'
import type { CallIdentity } from '../../../domain/calls/call-state.ts'
import type { CallParts } from '../../../domain/calls/new-call.ts'
import type { FoundRef } from '../../../domain/objects/refs.ts'
import { grown, joinLogs, withBodies } from '../../../domain/otel/span-logs.ts'
import type { CallLogs } from '../../api/calls/calls.ts'
import type { CallRow } from '../../base/calls/call-rows.ts'
import type { Connection } from '../db/connection.ts'
import { updateBodies } from './bodies.sql.ts'
import { packBodies } from './body-compression.ts'
import * as SQL from './call-logs.sql.ts'
import { DELETE_REFS } from './removal/removal.sql.ts'

/** How long joined records stay for a repetition of their span. */
const JOINED_US = 300_000_000
/** Joined spans that make room at a time. */
const FREED_SPANS = 1000

interface LogsRow {
  readonly ref_scheme: string
  readonly size_bytes: number
  readonly events_json: string
  readonly is_joined: 0 | 1
}

interface LogsOptions {
  readonly findCall: (call: CallIdentity) => CallRow | undefined
  readonly writeRefs: (call_key: number, isOutput: 0 | 1, refs: readonly FoundRef[]) => void
  readonly spansMax?: number
}

/** Deletes records whose time is over, within the caller's transaction. */
export function createLogExpiry(db: Connection): (now_us: number) => void {
  const deleteOld = db.prepare(SQL.DELETE_OLD_LOGS)
  return (now_us) => {
    deleteOld.run({ is_joined: 0, before_us: now_us - LOG_WAIT_US })
    deleteOld.run({ is_joined: 1, before_us: now_us - JOINED_US })
  }
}

export function createCallLogs(
  db: Connection,
  { findCall, writeRefs, spansMax = LOG_SPANS_MAX }: LogsOptions,
) {
  const findLogs = db.prepare(SQL.FIND_LOGS)
  const putLogs = db.prepare(SQL.PUT_LOGS)
  const markJoined = db.prepare(SQL.MARK_JOINED)
  const expire = createLogExpiry(db)
  const deleteJoined = db.prepare(SQL.DELETE_JOINED_LOGS)
  const sumLogs = db.prepare(SQL.SUM_LOGS)
  const growCall = db.prepare(SQL.GROW_CALL)
  const updateContents = db.prepare(updateBodies(['inputs', 'otel_dump', 'output']))
  const updateStartContents = db.prepare(updateBodies(['inputs', 'otel_dump']))
  const deleteRefs = db.prepare(DELETE_REFS)

  /** What the table holds at most: what it held when it was last summed, and what was written since. */
  let total = { spans: Infinity, bytes: Infinity }

  function isFull(): boolean {
    const isOver = () => total.spans >= spansMax || total.bytes >= LOG_BYTES_MAX
    if (isOver()) total = sumLogs.get() as typeof total
    return isOver()
  }

  function joinStored(key: LoggedSpan, events: readonly string[], ref_scheme: string): Joining {
    const row = findCall(key)
    if (row?.trace_id !== key.trace_id) return 'waiting'
    if (row.deleted_at_us !== null) return 'dropped'
    const { call_key, otel_dump_json } = row
    if (otel_dump_json === null) return 'waiting'
    const joined = joinLogs({ ...key, otel_dump_json }, events, ref_scheme)
    if (joined === null) return 'joined'
    const { inputs_json, output_json } = joined
    let bytes = grown(row.inputs_json, inputs_json) + grown(otel_dump_json, joined.otel_dump_json)
    deleteRefs.run([call_key])
    writeRefs(call_key, 0, joined.input_refs)
    if (row.ended_at_us === null) {
      updateStartContents.run([...packBodies(inputs_json, joined.otel_dump_json), call_key])
    } else {
      updateContents.run([...packBodies(inputs_json, joined.otel_dump_json, output_json), call_key])
      writeRefs(call_key, 1, joined.output_refs)
      bytes += grown(row.output_json, output_json)
    }
    growCall.run({ call_key, grown_bytes: bytes })
    return 'joined'
  }

  /** @returns how many records of the span were not stored */
  function writeOfSpan(key: LoggedSpan, events: readonly string[], times: WriteTimes): number {
    const stored = findLogs.get(key) as LogsRow | undefined
    const known = stored ? (JSON.parse(stored.events_json) as string[]) : []
    const merged = [...new Set([...known, ...events])]
    if (merged.length > LOGS_OF_SPAN_MAX) return events.length
    const joining = joinStored(key, merged, times.ref_scheme)
    if (joining === 'dropped') return 0
    const is_joined = joining === 'joined' ? 1 : 0
    const events_json = JSON.stringify(merged)
    const size_bytes = Buffer.byteLength(events_json)
    putLogs.run({ ...key, ...times, is_joined, size_bytes, events_json })
    total = { spans: total.spans + 1, bytes: total.bytes + size_bytes }
    return 0
  }

  return {
    /** The parts of a call with the records of its span, which are marked as joined. */
    joinTo(parts: CallParts): CallParts {
      const { start } = parts
      if (start === null || start.otel_dump_json === null) return parts
      const { project_id, id, trace_id, otel_dump_json } = start
      const row = findLogs.get({ project_id, id, trace_id }) as LogsRow | undefined
      if (row === undefined) return parts
      const events = JSON.parse(row.events_json) as string[]
      const joined = joinLogs({ id, trace_id, otel_dump_json }, events, row.ref_scheme)
      if (row.is_joined === 0) markJoined.run({ project_id, id, trace_id })
      return joined === null ? parts : withBodies(parts, joined)
    },

    /** @returns how many records were not stored, as too many wait */
    write({ logs, received_at_us, ref_scheme }: CallLogs): number {
      expire(received_at_us)
      if (isFull()) deleteJoined.run({ limit: FREED_SPANS })
      if (isFull()) return logs.length
      let left = 0
      for (const { key, events } of bySpan(logs)) {
        left += writeOfSpan(key, events, { received_at_us, ref_scheme })
      }
      return left
    },
  }
}

/** Whether the stored call has the events, they wait for it, or they are not stored, as the call was deleted. */
type Joining = 'joined' | 'waiting' | 'dropped'

interface WriteTimes {
  readonly received_at_us: number
  readonly ref_scheme: string
}
