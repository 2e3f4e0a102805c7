/** Reads traces of MLflow out of its database and its artifact store: spans as calls, assessments as feedback. */
import type { CallParts } from '../domain/calls/new-call.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import { renderJson } from '../domain/json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrEmpty } from '../domain/json/json-values.ts'
import { readJsonSpan } from '../domain/otel/otlp-json.ts'
import type { Span } from '../domain/otel/span.ts'
import { parseText } from '../domain/otel/span-reader.ts'
import { reasonOf, toSpanParts } from '../otel/read-request.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { type ApiClient, type Json, objectsOf } from './api-client.ts'
import { TOO_LARGE, toScoreFeedback } from './scores.ts'
import { createLeftCounts, IMPORT_USER, ImportError, type SourceOptions } from './source.ts'

/** Statuses of a trace without an artifact, or with one that is damaged: repeating the request changes nothing. */
const UNREADABLE: ReadonlySet<number | null> = new Set([400, 404, 500])
const NO_SOURCE = { resource: {}, scope: { name: 'mlflow', version: '', attributes: {} } }

interface ReadTrace {
  readonly info: Json
  /** Null where they cannot be had. */
  readonly spans: readonly Json[] | null
}

/** Traces with their spans. One that has none in the database would fail the request for all of them. */
export async function readSpans(api: ApiClient, infos: readonly Json[]): Promise<ReadTrace[]> {
  const trace_ids = infos.filter(isInDatabase).map(({ trace_id }) => textOrEmpty(trace_id))
  const path = '/api/3.0/mlflow/traces/batchGet'
  const page = trace_ids.length === 0 ? {} : await api.get(path, { trace_ids })
  const traces: ReadTrace[] = objectsOf(page.traces).map(({ trace_info, spans }) => ({
    info: objectOrEmpty(trace_info),
    spans: objectsOf(spans),
  }))
  for (const info of infos) {
    if (!isInDatabase(info)) traces.push({ info, spans: await readArtifact(api, info) })
  }
  return traces
}

function isInDatabase({ tags }: Json): boolean {
  const location = objectOrEmpty(tags)['mlflow.trace.spansLocation']
  return location === 'TRACKING_STORE' || location === 'ARCHIVE_REPO'
}

/** The spans of a trace that its client has put into the artifact store, as an older one always does. */
async function readArtifact(api: ApiClient, { trace_id }: Json): Promise<readonly Json[] | null> {
  try {
    const path = '/ajax-api/2.0/mlflow/get-trace-artifact'
    const { spans } = await api.get(path, { request_id: textOrEmpty(trace_id) })
    return objectsOf(spans).map((span) => ({
      ...span,
      attributes: toPairs(span.attributes),
      events: objectsOf(span.events).map((one) => ({
        ...one,
        attributes: toPairs(one.attributes),
      })),
    }))
  } catch (error) {
    if (error instanceof ImportError && UNREADABLE.has(error.status)) return null
    throw error
  }
}

/** Attributes of an artifact are an object, whose values are JSON as texts. */
function toPairs(attributes: unknown): readonly Json[] {
  return Object.entries(objectOrEmpty(attributes)).map(([key, value]) => {
    const stringValue = typeof value === 'string' ? value : renderJson(value)
    return { key, value: { stringValue } }
  })
}

/** The calls and the feedback of traces. */
export function toPage(traces: readonly ReadTrace[], options: SourceOptions) {
  const left = createLeftCounts()
  const calls: CallParts[] = []
  const feedback: Feedback[] = []
  for (const { info, spans } of traces) {
    if (spans === null) left.add('traces whose spans the server cannot read')
    let root = ''
    for (const item of spans ?? []) {
      try {
        const span = readJsonSpan(item, NO_SOURCE)
        if (span.parent_span_id === null) root = span.span_id
        const known = withTraceFields(span, info)
        calls.push(toSpanParts(known, options.project_id, { ...options, ...IMPORT_USER }))
      } catch (error) {
        left.add(`calls: ${reasonOf(error)}`)
      }
    }
    for (const assessment of objectsOf(info.assessments)) {
      const call_id = filledTextOrNull(assessment.span_id) ?? root
      const one = call_id === '' ? null : toFeedback(assessment, call_id, options)
      if (one !== null) feedback.push(one)
      else left.add(call_id === '' ? 'assessments of traces without a root' : TOO_LARGE)
    }
  }
  return { calls, feedback, left: left.counts }
}

/** Session and user of the trace, on all of its spans; its own tags and metadata, on the root. */
function withTraceFields(span: Span, info: Json): Span {
  const metadata = objectOrEmpty(info.trace_metadata)
  const session = filledTextOrNull(metadata['mlflow.trace.session'])
  const user = filledTextOrNull(metadata['mlflow.trace.user'])
  const ofRoot = { tags: ownFields(info.tags), metadata: ownFields(metadata) }
  return {
    ...span,
    attributes: {
      ...span.attributes,
      ...(session === null ? {} : { 'session.id': session }),
      ...(user === null ? {} : { 'user.id': user }),
      ...(span.parent_span_id === null ? ofRoot : {}),
    },
  }
}

/** Without those of MLflow itself. */
export function ownFields(fields: unknown): Json {
  const own = Object.entries(objectOrEmpty(fields)).filter(([name]) => !name.startsWith('mlflow.'))
  return Object.fromEntries(own)
}

function toFeedback(assessment: Json, call_id: string, options: SourceOptions): Feedback | null {
  const { assessment_id, assessment_name, create_time, rationale, metadata, valid } = assessment
  const { source_type, source_id } = objectOrEmpty(assessment.source)
  const expectation = assessment.expectation ?? null
  const { value, error } = objectOrEmpty(assessment.feedback)
  return toScoreFeedback(
    {
      tool: 'mlflow',
      id: textOrEmpty(assessment_id),
      call_id,
      name: textOrEmpty(assessment_name),
      created_at_us: parseTimestampUs(textOrEmpty(create_time)) ?? 0,
      creator: filledTextOrNull(source_id) ?? filledTextOrNull(source_type),
      payload: {
        ...(expectation === null
          ? { value: value ?? null, error: error ?? undefined }
          : { expectation: toExpected(objectOrEmpty(expectation)) }),
        explanation: filledTextOrNull(rationale) ?? undefined,
        annotator_kind: source_type ?? undefined,
        metadata: metadata ?? undefined,
        // Replaced by a later one.
        valid: valid === false ? false : undefined,
      },
    },
    options,
  )
}

/** Lists and objects are JSON as a text. */
function toExpected({ value, serialized_value }: Json): unknown {
  const serialized = objectOrEmpty(serialized_value)
  return serialized_value === undefined ? value : parseText(serialized.value)
}
