/**
 * Decides what the writes of one batch do to calls, in order of arrival, from what is stored and from earlier writes
 * of the batch. Pure; nothing is written until everything is decided.
 */
import type { CallEnd, CallParts, CallStart } from '../../../domain/calls/new-call.ts'
import type { PartResult, StartedIds } from '../../../domain/calls/part-result.ts'
import { ApiError } from '../../../errors.ts'
import type { CallRename } from '../../api/calls/calls.ts'
import type { Row } from '../db/client.ts'
import {
  hashEnd,
  hashStart,
  type KnownStart,
  toEndRow,
  toKnownStart,
  toStartRow,
} from './call-rows.ts'
import type { NestedReportsCache } from './nested-reports.ts'

/** The state of an id. */
export interface CallState {
  /** The stored start, or that of the batch. */
  start: { readonly known: KnownStart; readonly hash: string } | null
  endHash: string | null
  /** A stored end whose start has not arrived. */
  earlyEnd: CallEnd | null
  isDeleted: boolean
  /** Of the batch. */
  newStart: CallStart | null
  newEnd: CallEnd | null
  newName: CallRename | null
}

/** Rows of a batch by their tables. */
interface BatchRows {
  readonly call_ids: Row[]
  readonly call_early_ends: Row[]
  readonly call_names: Row[]
  readonly calls: Row[]
}

/** The fields that identify a call. */
export type CallName = Pick<CallStart, 'project_id' | 'id'>

export function unknownCall(): CallState {
  return {
    start: null,
    endHash: null,
    earlyEnd: null,
    isDeleted: false,
    newStart: null,
    newEnd: null,
    newName: null,
  }
}

export function keyOf({ project_id, id }: CallName): string {
  // A project id has exactly one slash, so the text is unambiguous.
  return `${project_id}/${id}`
}

/**
 * @param states - of all calls that the batch names, by keyOf; changed by what is written
 * @param nested - reports of children from earlier batches; those of this one are added
 */
export function createBatch(states: ReadonlyMap<string, CallState>, nested: NestedReportsCache) {
  const stateOf = (name: CallName) => states.get(keyOf(name)) as CallState

  function writeStart(start: CallStart): StartedIds {
    const state = stateOf(start)
    const { id } = start
    if (state.start === null) {
      state.start = { known: toKnownStart(start), hash: hashStart(start) }
      state.newStart = start
      return { id, trace_id: start.trace_id }
    }
    requireSameStart(state, start)
    return { id, trace_id: state.start.known.trace_id }
  }

  function writeEnd(end: CallEnd): void {
    const state = stateOf(end)
    if (state.endHash !== null) {
      requireSameEnd(state, end)
      return
    }
    state.endHash = hashEnd(end)
    state.newEnd = end
  }

  /** Writes nothing when either conflicts with the stored call. */
  function writeBoth(start: CallStart, end: CallEnd): StartedIds {
    const state = stateOf(start)
    if (state.endHash !== null) requireSameEnd(state, end)
    const started = writeStart(start)
    writeEnd(end)
    return started
  }

  return {
    writePart({ start, end }: CallParts): PartResult {
      try {
        if (start && end) return { started: writeBoth(start, end) }
        if (start) return { started: writeStart(start) }
        if (end) writeEnd(end)
        return { started: null }
      } catch (error) {
        if (error instanceof ApiError) return { error }
        throw error
      }
    },
    /** @throws ApiError call_not_found */
    rename(rename: CallRename): void {
      const state = stateOf(rename)
      if (state.isDeleted) throw new ApiError('call_not_found', { param: 'call_id' })
      state.newName = rename
    },
    /** @param version - greater than that of any earlier batch */
    rows(version: number): BatchRows {
      const rows: BatchRows = { call_ids: [], call_early_ends: [], call_names: [], calls: [] }
      for (const state of states.values()) addReport(nested, state)
      for (const state of states.values()) addRows(rows, state, version, nested)
      return rows
    },
  }
}

/** The end that the batch stores; null if there is none, or its start has not arrived. */
function storedEnd({ start, newStart, newEnd, earlyEnd }: CallState): CallEnd | null {
  if (newStart) return newEnd ?? earlyEnd
  return start ? newEnd : null
}

function addReport(nested: NestedReportsCache, state: CallState): void {
  const end = storedEnd(state)
  if (end && state.start) nested.add({ ...end, parent_id: state.start.known.parent_id })
}

function addRows(
  rows: BatchRows,
  state: CallState,
  version: number,
  nested: NestedReportsCache,
): void {
  const { start, newStart, newEnd, newName, endHash } = state
  const end = storedEnd(state)
  const below = end && nested.take(end.project_id, end.id)
  if (newName) {
    const { project_id, id, display_name } = newName
    rows.call_names.push({ project_id, id, display_name, version })
  }
  if (newStart) {
    const { project_id, id, started_at_us } = newStart
    rows.call_ids.push({ project_id, id, started_at_us })
    rows.calls.push(toStartRow(newStart, end, below))
  } else if (end && start) {
    rows.calls.push(toEndRow(start.known, end, below))
  } else if (newEnd) {
    const { project_id, id } = newEnd
    rows.call_early_ends.push({
      project_id,
      id,
      end_hash: endHash,
      end_json: JSON.stringify(newEnd),
    })
  }
}

/** Parts of a deleted call are accepted, and compared with nothing. */
function requireSameStart({ start, isDeleted }: CallState, again: CallStart): void {
  if (isDeleted) return
  const isSameTrace = again.sent_trace_id === null || again.sent_trace_id === start?.known.trace_id
  if (!isSameTrace || start?.hash !== hashStart(again)) {
    throw new ApiError('call_conflict', { param: 'start.id' })
  }
}

function requireSameEnd({ endHash, isDeleted }: CallState, again: CallEnd): void {
  if (!isDeleted && endHash !== hashEnd(again))
    throw new ApiError('call_conflict', { param: 'end.id' })
}
