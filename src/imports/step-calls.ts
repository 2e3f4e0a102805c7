/** Steps of tools whose ids are not those of OpenTelemetry, read by the tables of dialects as spans are. */
import { type CallParts, resolveTimedEnd, resolveTimedStart } from '../domain/calls/new-call.ts'
import type { Attributes } from '../domain/otel/span.ts'
import { toSpanCall } from '../domain/otel/span-call.ts'
import { reasonOf } from '../otel/read-request.ts'
import { ClientId } from '../schemas/primitives.ts'
import { createLeftCounts, IMPORT_USER, type ImportTarget } from './source.ts'

/** Ids that OpenTelemetry demands of spans; those of the step replace them. */
const SPAN_IDS = { trace_id: '1'.padStart(32, '0'), span_id: '1'.padStart(16, '0') }

interface ImportedStep {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly name: string
  /** Null: it has none, and is left out. */
  readonly start_us: number | null
  /** Null while it runs. */
  readonly end_us: number | null
  /** As the dialect of the tool has them in spans. */
  readonly attributes: Attributes
  /** Null where it did not fail. */
  readonly error: string | null
}

/**
 * The calls of the items of a page, and the number of those that cannot be stored, by why.
 *
 * @param toCall - null for one without a usable id or time; throws SpanError, ApiError
 */
export function collectCalls<T>(items: readonly T[], toCall: (item: T) => CallParts | null) {
  const left = createLeftCounts()
  const calls: CallParts[] = []
  for (const item of items) {
    try {
      const call = toCall(item)
      if (call === null) left.add('calls whose id, time or another field cannot be stored')
      else calls.push(call)
    } catch (error) {
      left.add(`calls: ${reasonOf(error)}`)
    }
  }
  return { calls, left }
}

/** Whether a text is an id as clients may choose one for a call. */
export function isCallId(id: string): boolean {
  return ClientId.safeParse(id).success
}

/** The call of a step; null for one without a usable id or time. @throws ApiError */
export function toStepCall(step: ImportedStep, { project_id, refScheme }: ImportTarget) {
  const { id, trace_id, parent_id, name, start_us, end_us, attributes, error } = step
  if (start_us === null || !isCallId(id) || !isCallId(trace_id)) return null
  const { start, end, isRunning } = toSpanCall(
    {
      ...SPAN_IDS,
      resource: {},
      scope: { name: '', version: '', attributes: {} },
      parent_span_id: null,
      trace_state: '',
      name,
      kind: 0,
      start_ns: BigInt(start_us) * 1000n,
      end_ns: BigInt(end_us ?? 0) * 1000n,
      attributes,
      events: [],
      links: [],
      status: { code: error === null ? 0 : 2, message: error ?? '' },
    },
    project_id,
  )
  const ids = { id, trace_id, parent_id }
  // Not a span that a program has sent: what no field was made of is in the attributes.
  const begun = { ...start, ...ids, otel_dump: null }
  const parts: CallParts = {
    start: resolveTimedStart(begun, { ...ids, ...IMPORT_USER }, refScheme),
    end: isRunning ? null : resolveTimedEnd({ ...end, id }, refScheme),
  }
  return parts
}
