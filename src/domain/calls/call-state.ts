/**
 * The state machine of a stored call. Its start, its end and its new name arrive in any order, each any number of
 * times; a store asks here what to do with each of them. Pure.
 */
import { ApiError } from '../../errors.ts'
import type { CallEnd, CallParts, CallStart } from './new-call.ts'

/** The fields that identify a call. */
export type CallIdentity = Pick<CallStart, 'project_id' | 'id'>

/** The stored state of a call id. */
export interface CallState {
  readonly start: {
    readonly trace_id: string
    /** Whether a start that was sent again equals the stored one. */
    isSame(again: CallStart): boolean
    /** Whether it is that of the same span (isSameSpan). */
    isSameSpan(again: CallStart): boolean
    /** Whether the store keeps the first start of a span that is replaced, so that later ones may differ from it. */
    readonly isFirstKept: boolean
  } | null
  readonly end: {
    /** Whether an end that was sent again equals the stored one. */
    isSame(again: CallEnd): boolean
  } | null
  readonly isDeleted: boolean
}

/**
 * The decision of a store on a part. `insert`: the id is new. `complete`: add it to the stored call. `replace`: a span
 * that was stored while it ran was sent again and has changed; replace its start, or keep the first (isFirstKept).
 * `repeat`: nothing, it is stored. `conflict`: nothing, another one is stored. `drop`: nothing, the call was deleted.
 */
type PartDecision = 'insert' | 'complete' | 'replace' | 'repeat' | 'conflict' | 'drop'

/** The decisions on an item of a batch; null for a part that it does not hold. */
export interface PartDecisions {
  readonly start: PartDecision | null
  readonly end: PartDecision | null
}

/** Ids of a stored start. */
export interface StartedIds {
  readonly id: string
  readonly trace_id: string
}

/** The ids of a start, null for an end, or why the part was refused. */
export type PartResult =
  | { readonly started: StartedIds | null; readonly error?: undefined }
  | { readonly error: ApiError; readonly started?: undefined }

/** The fields in which a repeated start must be equal. The name is not among them: it may have changed since. */
export const START_FIELDS = [
  'parent_id',
  'thread_id',
  'turn_id',
  'op_name',
  'started_at_us',
  'svc_run_id',
  'svc_run_step',
  'attributes_json',
  'inputs_json',
  'otel_dump_json',
] as const

/** The fields in which a repeated end must be equal. */
export const END_FIELDS = [
  'ended_at_us',
  'exception',
  'svc_run_step_end',
  'output_json',
  'summary_json',
] as const

/** Returns the key of a call in a Map. A project id has exactly one slash, so the text is unambiguous. */
export function keyOf({ project_id, id }: CallIdentity): string {
  return `${project_id}/${id}`
}

/** Whether a start equals the stored one in START_FIELDS. */
export function isSameStart(
  stored: { readonly [Field in (typeof START_FIELDS)[number]]: CallStart[Field] | null },
  again: CallStart,
): boolean {
  return START_FIELDS.every((field) => stored[field] === again[field])
}

/** The fields in which a span that is sent again while it runs must be equal; its other contents grow. */
const SPAN_FIELDS = ['trace_id', 'parent_id', 'op_name', 'started_at_us'] as const

/** Whether a start came as a span and equals the stored one in what a span keeps while it runs. */
export function isSameSpan(
  stored: { readonly [Field in (typeof SPAN_FIELDS)[number]]: CallStart[Field] | null },
  again: CallStart,
): boolean {
  return (
    again.otel_dump_json !== null && SPAN_FIELDS.every((field) => stored[field] === again[field])
  )
}

/** Whether an end equals the stored one in END_FIELDS. */
export function isSameEnd(
  stored: { readonly [Field in (typeof END_FIELDS)[number]]: CallEnd[Field] | null },
  again: CallEnd,
): boolean {
  return END_FIELDS.every((field) => stored[field] === again[field])
}

/**
 * Decides on a start. A deleted call takes one to `complete`: later starts are reported the trace of the first. A
 * repeated start may leave out its trace, and of a deleted call nothing is compared.
 *
 * Spec: §2.6 (repeated ids not shown). Choice: the start of a span without an end is replaced by that of the same span
 * when it is sent again; without an end, one that comes after the end is an earlier version, and so repeated.
 *
 * @param state - null for an id of which nothing is stored
 */
function decideStart(state: CallState | null, { end }: CallParts, start: CallStart): PartDecision {
  if (state === null) return 'insert'
  const { start: stored, isDeleted } = state
  if (stored === null) return 'complete'
  const { sent_trace_id } = start
  const isSameTrace = sent_trace_id === null || sent_trace_id === stored.trace_id
  if (isDeleted || (isSameTrace && stored.isSame(start))) return 'repeat'
  if (!stored.isSameSpan(start)) return 'conflict'
  if (state.end === null) return 'replace'
  return end === null || stored.isFirstKept ? 'repeat' : 'conflict'
}

/** Decides on an end, as decideStart. */
function decideEnd(state: CallState | null, end: CallEnd): PartDecision {
  if (state === null) return 'insert'
  if (state.isDeleted) return 'drop'
  if (state.end === null) return 'complete'
  return state.end.isSame(end) ? 'repeat' : 'conflict'
}

/**
 * Decides on a new name. The newest one counts, and a start that comes later keeps it.
 *
 * @throws ApiError call_not_found for a deleted call
 */
export function decideName(state: CallState | null): 'insert' | 'complete' {
  if (state === null) return 'insert'
  if (state.isDeleted) throw new ApiError('call_not_found', { param: 'call_id' })
  return 'complete'
}

/**
 * Decides on both parts of an item.
 *
 * @throws ApiError call_conflict when a part is in conflict: then none of the item is written
 */
export function decideParts(state: CallState | null, parts: CallParts): PartDecisions {
  const { start, end } = parts
  const decided = {
    start: start && decideStart(state, parts, start),
    end: end && decideEnd(state, end),
  }
  if (decided.end === 'conflict') throw new ApiError('call_conflict', { param: 'end.id' })
  if (decided.start === 'conflict') throw new ApiError('call_conflict', { param: 'start.id' })
  return decided
}

/** Returns the state after the decided parts were written. */
export function toNextState(
  state: CallState | null,
  { start, end }: CallParts,
  decided: PartDecisions,
): CallState {
  const { start: stored = null, end: storedEnd = null, isDeleted = false } = state ?? {}
  return {
    start: start && isStartWritten(decided) ? toStoredStart(start) : stored,
    end: end && isWritten(decided.end) ? { isSame: (again) => isSameEnd(end, again) } : storedEnd,
    isDeleted,
  }
}

/** Returns the ids in the response to a start: its own, in the trace of the first. */
export function startedIds(state: CallState | null, { id, trace_id }: CallStart): StartedIds {
  return { id, trace_id: state?.start?.trace_id ?? trace_id }
}

/** Writes a part of a batch. An ApiError becomes its result, so that the other parts are not affected. */
export function toPartResult(write: () => StartedIds | null): PartResult {
  try {
    return { started: write() }
  } catch (error) {
    if (error instanceof ApiError) return { error }
    throw error
  }
}

/** Whether a part is written. */
export function isWritten(decision: PartDecision | null): boolean {
  return decision === 'insert' || decision === 'complete'
}

function isStartWritten({ start }: PartDecisions): boolean {
  return isWritten(start) || start === 'replace'
}

function toStoredStart(start: CallStart): CallState['start'] {
  return {
    trace_id: start.trace_id,
    isSame: (again) => isSameStart(start, again),
    isSameSpan: (again) => isSameSpan(start, again),
    isFirstKept: false,
  }
}
