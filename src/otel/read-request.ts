/** A trace request, from its bytes to calls and feedback that can be stored. Runs on the main thread or beside it. */
import { type CallParts, resolveTimedEnd, resolveTimedStart } from '../domain/calls/new-call.ts'
import {
  EVENT_LOOP_LIMITS,
  exceedsDepth,
  JSON_DEPTH_MAX,
  type JsonLimits,
  requireParsable,
} from '../domain/json/json-limits.ts'
import { parseLossless } from '../domain/json/json-text.ts'
import { type ExperimentRun, readExperimentRun, toTrialCall } from '../domain/otel/experiments.ts'
import type { OtlpEncoding } from '../domain/otel/otlp-fields.ts'
import { openJson, readJsonSpan, type Signal } from '../domain/otel/otlp-json.ts'
import { openProtobuf, readProtobufSpan } from '../domain/otel/otlp-protobuf.ts'
import { type Span, SpanError, type SpanSource } from '../domain/otel/span.ts'
import { toSpanCall } from '../domain/otel/span-call.ts'
import { readSpanFeedback, type SpanFeedback } from '../domain/otel/span-feedback.ts'
import { readSpanResponseId } from '../domain/usage/request-identity.ts'
import { ApiError } from '../errors.ts'
import { isProjectId } from '../schemas/shapes.ts'

/** What the calls of all spans share. */
interface SpanDefaults {
  readonly refScheme: string
  readonly svc_user_id: string
  readonly svc_username: string
}

export interface ReadRequest extends SpanDefaults {
  readonly encoding: OtlpEncoding
  /** The whole body, decompressed. */
  readonly bytes: Uint8Array
  /** The project named by the request itself; overrides the resources. */
  readonly project_id: string | null
  /** The project of spans without another one. */
  readonly default_project_id: string | null
}

export interface ReadSpans {
  /** All projects that are written to. */
  readonly projects: readonly string[]
  /** In the order in which the spans began. */
  readonly calls: readonly CallParts[]
  /** How many there are. */
  readonly count: number
  readonly feedback: readonly SpanFeedback[]
  /** Runs of which there are trials among the calls, each once. */
  readonly runs: readonly ExperimentRun[]
  /** Spans that cannot be stored. */
  readonly rejected: number
  /** Why the first of them cannot; with none, what of the request was not read. */
  readonly message: string | null
}

interface Group {
  readonly source: SpanSource
  readonly spans: readonly unknown[]
}

/**
 * @param limits - of JSON
 * @throws ApiError invalid_otlp, request_too_large, otlp_project_missing when no span has a project
 */
export function readTraceRequest(
  request: ReadRequest,
  limits: JsonLimits = EVENT_LOOP_LIMITS,
): ReadSpans {
  const { groups, unread } = openRequest(request, 'traces', limits)
  const projects = new Set<string>()
  const found: { span: Span; project_id: string }[] = []
  const refusals: string[] = []
  let unrouted = 0
  for (const { source, spans } of groups) {
    const project_id = request.project_id ?? projectOf(source) ?? request.default_project_id
    if (project_id === null) {
      unrouted += spans.length
      continue
    }
    for (const item of spans) {
      try {
        found.push({ span: readOne(request.encoding, item, source), project_id })
        projects.add(project_id)
      } catch (error) {
        refusals.push(reasonOf(error))
      }
    }
  }
  if (unrouted > 0 && found.length === 0) throw new ApiError('otlp_project_missing')
  if (unrouted > 0) refusals.push('no project is named for some spans')
  found.sort((left, right) => compare(left.span.start_ns, right.span.start_ns))
  const calls: CallParts[] = []
  const feedback: SpanFeedback[] = []
  const runs = new Map<string, ExperimentRun>()
  for (const { span, project_id } of found) {
    try {
      const run = readExperimentRun(span, project_id)
      calls.push(toSpanParts(span, project_id, request, run))
      feedback.push(...readSpanFeedback(span, project_id, request.refScheme))
      if (run !== null) runs.set(`${project_id}/${run.id}`, run)
    } catch (error) {
      refusals.push(reasonOf(error))
    }
  }
  const rejected = refusals.length + Math.max(0, unrouted - 1)
  return {
    projects: [...projects],
    calls,
    count: calls.length,
    feedback,
    runs: [...runs.values()],
    rejected,
    message: refusals[0] ?? unread,
  }
}

/** @throws ApiError invalid_otlp, request_too_large */
export function openRequest(
  { encoding, bytes }: ReadRequest,
  signal: Signal,
  limits: JsonLimits,
): { readonly groups: readonly Group[]; readonly unread: string | null } {
  try {
    if (encoding === 'json') return openJson(parse(bytes, limits), signal)
    return { groups: openProtobuf(bytes), unread: null }
  } catch (cause) {
    if (cause instanceof SpanError) throw new ApiError('invalid_otlp', { message: cause.message })
    throw cause
  }
}

/** @throws SpanError, ApiError request_too_large */
function parse(bytes: Uint8Array, limits: JsonLimits): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (text.trim() === '') return {}
    if (exceedsDepth(text, JSON_DEPTH_MAX)) throw new SpanError('the JSON nests too deep')
    requireParsable(text, limits)
    return parseLossless(text)
  } catch (error) {
    if (error instanceof SpanError || error instanceof ApiError) throw error
    throw new SpanError('the body is not valid JSON')
  }
}

function readOne(encoding: OtlpEncoding, item: unknown, source: SpanSource): Span {
  return encoding === 'protobuf'
    ? readProtobufSpan(item as Uint8Array, source)
    : readJsonSpan(item, source)
}

/**
 * The start and the end of the call of a span; no end while it runs.
 *
 * @param run - of which the span is a trial; the caller writes the call of the run. Default: none.
 * @throws SpanError, ApiError validation_failed
 */
export function toSpanParts(
  span: Span,
  project_id: string,
  { svc_user_id, svc_username, refScheme }: SpanDefaults,
  run: ExperimentRun | null = null,
): CallParts {
  const call = toSpanCall(span, project_id)
  const { start, end, isRunning } = run === null ? call : toTrialCall(span, call, run, refScheme)
  const defaults = { id: span.span_id, trace_id: span.trace_id, svc_user_id, svc_username }
  const response_id = readSpanResponseId(span.attributes)
  return {
    start: resolveTimedStart(start, defaults, refScheme),
    end: isRunning ? null : resolveTimedEnd({ ...end, response_id }, refScheme),
  }
}

/** The project that a resource names, in the attributes that exporters to the Weave service set. */
export function projectOf({ resource }: SpanSource): string | null {
  const entity = resource['wandb.entity']
  const project = resource['wandb.project'] ?? resource.project_id
  const named =
    typeof entity === 'string' && typeof project === 'string' ? `${entity}/${project}` : project
  return typeof named === 'string' && isProjectId(named) ? named : null
}

/** Why an item was refused. @throws what is no refusal */
export function reasonOf(error: unknown): string {
  if (error instanceof SpanError || error instanceof ApiError) return error.message
  throw error
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0
}
