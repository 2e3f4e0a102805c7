/**
 * Collects the rows that one batch of writes adds, in order of arrival, from what is stored and from earlier writes of
 * the batch. Pure; nothing is written until everything is decided.
 */
import {
  type CallIdentity,
  type CallState,
  decideName,
  decideParts,
  isWritten,
  keyOf,
  type PartResult,
  type StartedIds,
  startedIds,
  toNextState,
  toPartResult,
} from '../../../../domain/calls/call-state.ts'
import {
  type CallEnd,
  type CallParts,
  type CallStart,
  settleUsage,
} from '../../../../domain/calls/new-call.ts'
import { readStoredLink } from '../../../../domain/usage/request-identity.ts'
import type { CallRename } from '../../../api/calls/calls.ts'
import type { Row } from '../../db/client.ts'
import {
  hashEnd,
  type KnownStart,
  type LinkedEnd,
  requestKeyOf,
  toEndRow,
  toKnownStart,
  toStartRow,
} from '../call-rows.ts'
import type { NestedReportsCache } from './nested-reports.ts'

/** The stored state of an id, and the parts that the batch adds. */
export interface BatchCall {
  /** null when nothing is stored. */
  state: CallState | null
  /** The fields of the stored start, or of that of the batch. */
  known: KnownStart | null
  /** The attributes of the stored start, looked up where they decide how usage is read. */
  attributes_json: string | null
  /** A stored end whose start has not arrived. */
  earlyEnd: CallEnd | null
  newStart: CallStart | null
  newEnd: CallEnd | null
  newName: CallRename | null
  /** The call that a span names as the same request, also one that is sent again. */
  linked_id: string | null
}

/** Rows of a batch by their tables. */
interface BatchRows {
  readonly call_ids: Row[]
  readonly call_early_ends: Row[]
  readonly call_names: Row[]
  readonly call_requests: RequestRow[]
  readonly calls: Row[]
}

/** A call of a request. */
export interface RequestRow extends Row {
  readonly project_id: string
  readonly request: string
  readonly id: string
}

export function unknownCall(): BatchCall {
  return {
    state: null,
    known: null,
    attributes_json: null,
    earlyEnd: null,
    newStart: null,
    newEnd: null,
    newName: null,
    linked_id: null,
  }
}

/**
 * @param calls - all calls that the batch names, by keyOf; changed by what is written
 * @param nested - reports of children from earlier batches; those of this one are added
 */
export function createBatch(calls: ReadonlyMap<string, BatchCall>, nested: NestedReportsCache) {
  const callOf = (identity: CallIdentity) => calls.get(keyOf(identity)) as BatchCall

  /** Writes nothing when a part is in conflict with the stored call. @throws ApiError call_conflict */
  function writePart(part: CallParts): StartedIds | null {
    const { start, end } = part
    const identity = start ?? end
    if (identity === null) return null
    const call = callOf(identity)
    const { state } = call
    const decided = decideParts(state, part)
    const isReplaced = decided.start === 'replace' && call.newStart !== null
    if (start && (isWritten(decided.start) || isReplaced)) {
      call.known = toKnownStart(start)
      call.newStart = start
    }
    if (end && isWritten(decided.end)) call.newEnd = end
    call.linked_id ??= start?.linked_id ?? null
    call.state = toNextState(state, part, decided)
    return start && startedIds(state, start)
  }

  return {
    writePart: (part: CallParts): PartResult => toPartResult(() => writePart(part)),
    /** @throws ApiError call_not_found */
    rename(rename: CallRename): void {
      const call = callOf(rename)
      decideName(call.state)
      call.newName = rename
    },
    /** The starts that the batch stores. */
    starts: (): CallStart[] => [...calls.values()].flatMap(({ newStart }) => newStart ?? []),
    /** @param version - greater than that of any earlier batch */
    rows(version: number): BatchRows {
      const rows: BatchRows = {
        call_ids: [],
        call_early_ends: [],
        call_names: [],
        call_requests: [],
        calls: [],
      }
      for (const call of calls.values()) addReport(nested, call)
      for (const call of calls.values()) addRows(rows, call, version, nested)
      return rows
    },
  }
}

/** The end that the batch stores; null if there is none, or its start has not arrived. */
function storedEnd(call: BatchCall): LinkedEnd | null {
  const { known, newStart, newEnd, earlyEnd } = call
  const end = newStart ? (newEnd ?? earlyEnd) : known ? newEnd : null
  const attributes_json = newStart?.attributes_json ?? call.attributes_json
  if (end === null) return null
  const linked_id = call.linked_id ?? readStoredLink({ attributes_json, otel_dump_json: null })
  return { ...settleUsage(end, attributes_json), linked_id }
}

function addReport(nested: NestedReportsCache, call: BatchCall): void {
  const end = storedEnd(call)
  if (end && call.known) nested.add({ ...end, parent_id: call.known.parent_id })
}

/** A call that names another has it among the calls of their request, whether it is stored or not. */
function requestRows(end: LinkedEnd): RequestRow[] {
  const { project_id, id, linked_id } = end
  const request_key = requestKeyOf(end)
  const request = `call ${linked_id}`
  const linked = linked_id && end.usage.length > 0 ? [linked_id, id] : []
  return [
    ...(request_key === '' ? [] : [{ project_id, request: request_key, id }]),
    ...linked.map((one) => ({ project_id, request, id: one })),
  ]
}

function addRows(
  rows: BatchRows,
  call: BatchCall,
  version: number,
  nested: NestedReportsCache,
): void {
  const { known, newStart, newEnd, newName } = call
  const end = storedEnd(call)
  const below = end && nested.take(end.project_id, end.id)
  if (end && known) rows.call_requests.push(...requestRows(end))
  if (newName) {
    const { project_id, id, display_name } = newName
    rows.call_names.push({ project_id, id, display_name, version })
  }
  if (newStart) {
    const { project_id, id, started_at_us } = newStart
    rows.call_ids.push({ project_id, id, started_at_us })
    rows.calls.push(toStartRow(newStart, end, below))
  } else if (end && known) {
    rows.calls.push(toEndRow(known, end, below))
  } else if (newEnd) {
    const { project_id, id } = newEnd
    const end_json = JSON.stringify(newEnd)
    rows.call_early_ends.push({ project_id, id, end_hash: hashEnd(newEnd), end_json })
  }
}
