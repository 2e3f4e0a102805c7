/** Prepares the parts of a call that a client sends for the store. Pure; the caller provides ids and user. */
import type {
  EndedCallSchemaForInsert,
  StartedCallSchemaForInsert,
} from '../../schemas/calls/call.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { renderJson } from '../json/json-text.ts'
import { type FoundRef, refsIn } from '../objects/refs.ts'
import { readLinkedCall, readResponseId } from '../usage/request-identity.ts'
import { type CallUsage, readUsage } from '../usage/usage.ts'
import { identifyReporter } from '../usage/usage-reporter.ts'
import { readEndUser } from './end-user.ts'

/** The first part of a stored call. Times in microseconds, bodies as JSON text. */
export interface CallStart {
  readonly project_id: string
  readonly id: string
  /** The client's trace id, or null when it sent none. */
  readonly sent_trace_id: string | null
  /** The client's trace id, or the generated one. */
  readonly trace_id: string
  readonly parent_id: string | null
  readonly thread_id: string | null
  readonly turn_id: string | null
  readonly op_name: string
  readonly display_name: string | null
  readonly started_at_us: number
  readonly svc_user_id: string
  readonly svc_username: string
  /** From readEndUser. */
  readonly end_user_id: string | null
  readonly svc_run_id: string | null
  readonly svc_run_step: number | null
  readonly attributes_json: string
  readonly inputs_json: string
  readonly otel_dump_json: string | null
  readonly input_refs: readonly FoundRef[]
  /** The call that recorded the same request, as the client names it; default: none. */
  readonly linked_id?: string | null
  /** Bytes of attributes_json, inputs_json and otel_dump_json. */
  readonly start_size_bytes: number
}

/** The second part of a stored call. */
export interface CallEnd {
  readonly project_id: string
  readonly id: string
  readonly ended_at_us: number
  readonly exception: string | null
  readonly svc_run_step_end: number | null
  readonly output_json: string
  readonly summary_json: string
  readonly output_refs: readonly FoundRef[]
  readonly usage: readonly CallUsage[]
  /** The id of the response, where it can identify the request; default: none. */
  readonly response_id?: string | null
  /** Bytes of output_json and summary_json. */
  readonly end_size_bytes: number
}

/** One item of a batch: a start, an end, or both of one call. */
export interface CallParts {
  readonly start: CallStart | null
  readonly end: CallEnd | null
}

/** The project of parts; the empty text for none. */
export function projectOfParts({ start, end }: CallParts): string {
  return start?.project_id ?? end?.project_id ?? ''
}

export interface StartDefaults {
  readonly id: string
  readonly trace_id: string
  readonly svc_user_id: string
  readonly svc_username: string
}

/** A call whose times, in microseconds, do not come from the client. */
export type TimedStart = Omit<StartedCallSchemaForInsert, 'started_at'> & {
  readonly started_at_us: number
}
export type TimedEnd = Omit<EndedCallSchemaForInsert, 'ended_at'> & {
  readonly ended_at_us: number
  /** The id of the response, where the output does not have it. */
  readonly response_id?: string | null
}

/** Resolves a started call, as resolveTimedStart. */
export function resolveCallStart(
  start: StartedCallSchemaForInsert,
  defaults: StartDefaults,
  refScheme: string,
): CallStart {
  const { started_at, ...rest } = start
  return resolveTimedStart({ ...rest, started_at_us: timestampUs(started_at) }, defaults, refScheme)
}

/**
 * Resolves a started call.
 *
 * @param refScheme - scheme of the refs that are looked for in inputs
 *
 * Spec: §2.6, §4.6. Choice: a missing trace_id begins a new trace, also under a parent_id, because the
 * parent may not have arrived.
 */
export function resolveTimedStart(
  start: TimedStart,
  defaults: StartDefaults,
  refScheme: string,
): CallStart {
  const attributes_json = renderJson(start.attributes)
  const inputs_json = renderJson(start.inputs)
  const otel_dump_json = start.otel_dump ? renderJson(start.otel_dump) : null
  return {
    project_id: start.project_id,
    id: start.id ?? defaults.id,
    sent_trace_id: start.trace_id ?? null,
    trace_id: start.trace_id ?? defaults.trace_id,
    parent_id: start.parent_id ?? null,
    thread_id: start.thread_id ?? null,
    turn_id: start.turn_id ?? null,
    op_name: start.op_name,
    display_name: start.display_name ?? null,
    started_at_us: start.started_at_us,
    svc_user_id: defaults.svc_user_id,
    svc_username: defaults.svc_username,
    end_user_id: readEndUser(start.attributes, start.inputs),
    svc_run_id: start.svc_run_id ?? null,
    svc_run_step: start.svc_run_step ?? null,
    attributes_json,
    inputs_json,
    otel_dump_json,
    input_refs: refsIn(inputs_json, start.inputs, refScheme),
    ...given('linked_id', readLinkedCall(start.attributes, start.otel_dump)),
    start_size_bytes:
      Buffer.byteLength(attributes_json) +
      Buffer.byteLength(inputs_json) +
      Buffer.byteLength(otel_dump_json ?? ''),
  }
}

/** Resolves an ended call, as resolveTimedEnd. */
export function resolveCallEnd(end: EndedCallSchemaForInsert, refScheme: string): CallEnd {
  const { ended_at, ...rest } = end
  return resolveTimedEnd({ ...rest, ended_at_us: timestampUs(ended_at) }, refScheme)
}

/**
 * Resolves an ended call. A missing output is null, a missing summary is {}.
 *
 * @param refScheme - scheme of the refs that are looked for in the output
 * @throws ApiError validation_failed when summary.usage is too large
 */
export function resolveTimedEnd(end: TimedEnd, refScheme: string): CallEnd {
  const output_json = renderJson(end.output ?? null)
  const summary_json = renderJson(end.summary ?? {})
  return {
    project_id: end.project_id,
    id: end.id,
    ended_at_us: end.ended_at_us,
    exception: end.exception ?? null,
    svc_run_step_end: end.svc_run_step_end ?? null,
    output_json,
    summary_json,
    output_refs: refsIn(output_json, end.output, refScheme),
    usage: readUsage(end.summary),
    ...given('response_id', end.response_id ?? readResponseId(end.output)),
    end_size_bytes: Buffer.byteLength(output_json) + Buffer.byteLength(summary_json),
  }
}

/** Whether the usage depends on who reports it: where a cache had or took input, or no provider is named. */
export function dependsOnReporter({ usage }: Pick<CallEnd, 'usage'>): boolean {
  return hasCachedInput(usage) || usage.some(({ provider }) => provider === null)
}

function hasCachedInput(usage: readonly CallUsage[]): boolean {
  return usage.some(
    ({ cache_read_input_tokens: read, cache_creation_input_tokens: written }) => read + written > 0,
  )
}

/** Attributes without these names tell nothing of the reporter. */
const REPORTER_NAMES = /"(weave|integration|provider)"/

/**
 * Reads the usage of an end as the reporter that the start names counts it, and with the provider that it names. The
 * two parts of a call arrive apart, so that a store does this when it has both.
 *
 * @param attributes_json - those of the start; null: it has not come
 * @returns the end itself where the reporter is not known or changes nothing
 */
export function settleUsage<End extends Pick<CallEnd, 'usage' | 'summary_json'>>(
  end: End,
  attributes_json: string | null,
): End {
  if (!dependsOnReporter(end) || !REPORTER_NAMES.test(attributes_json ?? '')) return end
  const reporter = identifyReporter(JSON.parse(attributes_json as string))
  const changesCounts = reporter?.cachedInput && hasCachedInput(end.usage)
  if (!changesCounts && !reporter?.provider) return end
  return { ...end, usage: readUsage(JSON.parse(end.summary_json), reporter) }
}

/** Most calls have none. */
function given<Name extends 'linked_id' | 'response_id'>(name: Name, id: string | null) {
  return id === null ? {} : ({ [name]: id } as { [name in Name]: string })
}
