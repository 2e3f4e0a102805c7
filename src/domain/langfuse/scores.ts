/**
 * Scores of Langfuse's API as feedback. Pure.
 *
 * Spec: §2.2 (feedback_type is free). Choice: a score is feedback of the type `langfuse.score.<name>` about a call: the
 * observation, the run of an evaluation, or the id of the trace, whose root may not have arrived.
 */
import { ApiError, refuseField } from '../../errors.ts'
import type { FeedbackCreateRequest } from '../../schemas/feedback/feedback.ts'
import type { ScoreBody, ScoreConditions, ScoreType } from '../../schemas/langfuse/score.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { Query } from '../../schemas/query/query-expression.ts'
import { renderTimestamp, timestampUs } from '../../schemas/timestamp.ts'
import { callRef } from '../calls/call-ref.ts'
import type { FeedbackRow } from '../feedback/feedback-view.ts'
import { isObject } from '../json/is-object.ts'
import { parseLossless, toDouble } from '../json/json-text.ts'
import { objectOrEmpty, textOrEmpty, textOrNull } from '../json/json-values.ts'

const TYPE_PREFIX = 'langfuse.score.'
const TYPE_CHARS_MAX = 100
const ENVIRONMENT = 'default'

interface ScoreScope {
  readonly project_id: string
  readonly refScheme: string
  readonly nowUs: number
}

function feedbackTypeOf(name: string): string {
  return TYPE_PREFIX + name.slice(0, TYPE_CHARS_MAX).replace(/[^\p{L}\p{N}_.-]/gu, '_')
}

/** Converts a score to feedback, without an id where it has none. @throws ApiError validation_failed */
export function toScoreFeedback(score: ScoreBody, scope: ScoreScope): FeedbackCreateRequest {
  const { id, name, comment, metadata, configId, queueId, environment, timestamp } = score
  const { traceId, observationId, sessionId, datasetRunId } = score
  const dataType = score.dataType ?? (typeof score.value === 'string' ? 'CATEGORICAL' : 'NUMERIC')
  const at = timestamp ? timestampUs(timestamp) : scope.nowUs
  const payload = {
    name,
    value: checkedValue(dataType, score.value),
    data_type: dataType,
    comment,
    metadata,
    config_id: configId,
    queue_id: queueId,
    environment: environment ?? ENVIRONMENT,
    timestamp: renderTimestamp(at),
    trace_id: traceId,
    observation_id: observationId,
    session_id: sessionId,
    dataset_run_id: datasetRunId,
  }
  const given = Object.entries(payload).filter(([, value]) => value !== undefined && value !== null)
  return {
    project_id: scope.project_id,
    id: id ?? undefined,
    weave_ref: subjectRef(score, scope),
    feedback_type: feedbackTypeOf(name),
    payload: Object.fromEntries(given),
  }
}

/** @throws ApiError validation_failed for a score about nothing */
function subjectRef(score: ScoreBody, { refScheme, project_id }: ScoreScope): string {
  const call = score.observationId ?? score.traceId ?? score.datasetRunId
  if (call) return callRef(refScheme, project_id, encodeURIComponent(call))
  if (!score.sessionId) {
    const message = 'A score needs traceId, observationId, sessionId or datasetRunId.'
    throw new ApiError('validation_failed', { param: 'traceId', message })
  }
  return `${refScheme}:///${project_id}/thread/${encodeURIComponent(score.sessionId)}`
}

/** @throws ApiError validation_failed for a value of another type */
function checkedValue(type: ScoreType, given: unknown): unknown {
  const value = toDouble(given)
  if (type === 'NUMERIC') {
    return typeof value === 'number' ? given : refuseField('value', 'must be a number')
  }
  if (type === 'BOOLEAN') {
    if (value === 0 || value === 1 || typeof value === 'boolean') return Boolean(value)
    return refuseField('value', 'must be 0 or 1 for BOOLEAN')
  }
  return typeof value === 'string' ? value : refuseField('value', `must be a text for ${type}`)
}

/** The name and the value of a score; null for other feedback. */
export function readScore({
  feedback_type,
  payload_json,
}: Pick<FeedbackRow, 'feedback_type' | 'payload_json'>): readonly [string, unknown] | null {
  if (!feedback_type.startsWith(TYPE_PREFIX)) return null
  const payload = objectOrEmpty(parseLossless(payload_json ?? 'null'))
  return [textOrNull(payload.name) ?? feedback_type.slice(TYPE_PREFIX.length), payload.value]
}

/** A row of feedback, as the store lists it. */
export type ScoreRow = JsonObject

/** What the two versions of a score share. */
function baseOf(row: ScoreRow) {
  const payload = objectOrEmpty(row.payload)
  const text = (field: string) => textOrNull(payload[field])
  const metadata = payload.metadata ?? null
  return {
    id: textOrEmpty(row.id),
    projectId: textOrEmpty(row.project_id),
    name: textOrEmpty(payload.name),
    dataType: textOrEmpty(payload.data_type),
    source: 'API',
    timestamp: text('timestamp') ?? textOrEmpty(row.created_at),
    environment: text('environment') ?? ENVIRONMENT,
    createdAt: textOrEmpty(row.created_at),
    updatedAt: textOrEmpty(row.created_at),
    comment: text('comment'),
    // The SDKs read an object alone.
    metadata: isObject(metadata) ? metadata : metadata === null ? {} : { value: metadata },
    configId: text('config_id'),
    queueId: text('queue_id'),
    authorUserId: null,
  }
}

/** A score of `/v2/scores`: a text beside a number. */
export function renderScoreV2(row: ScoreRow) {
  const payload = objectOrEmpty(row.payload)
  const { value } = payload
  const base = baseOf(row)
  const isText = typeof value === 'string'
  const stringValue = typeof value === 'boolean' ? (value ? 'True' : 'False') : value
  return {
    ...base,
    traceId: textOrNull(payload.trace_id),
    observationId: textOrNull(payload.observation_id),
    sessionId: textOrNull(payload.session_id),
    datasetRunId: textOrNull(payload.dataset_run_id),
    value: isText ? 0 : typeof value === 'boolean' ? Number(value) : value,
    ...(base.dataType === 'NUMERIC' ? {} : { stringValue }),
  }
}

/** A score of `/v3/scores`: one value, and one subject. */
export function renderScoreV3(row: ScoreRow) {
  const payload = objectOrEmpty(row.payload)
  return { ...baseOf(row), value: payload.value, subject: subjectOf(payload) }
}

function subjectOf(payload: JsonObject) {
  const { trace_id, observation_id, session_id, dataset_run_id } = payload
  if (observation_id) return { kind: 'observation', id: observation_id, traceId: trace_id ?? null }
  if (trace_id) return { kind: 'trace', id: trace_id }
  if (dataset_run_id) return { kind: 'experiment', id: dataset_run_id }
  return { kind: 'session', id: session_id }
}

/** Fields of rows by the names of conditions. */
const FIELDS = {
  id: 'id',
  scoreIds: 'id',
  name: 'payload.name',
  environment: 'payload.environment',
  dataType: 'payload.data_type',
  configId: 'payload.config_id',
  queueId: 'payload.queue_id',
  traceId: 'payload.trace_id',
  sessionId: 'payload.session_id',
  observationId: 'payload.observation_id',
  datasetRunId: 'payload.dataset_run_id',
  experimentId: 'payload.dataset_run_id',
} as const

type Operator = '$eq' | '$gte' | '$lte' | '$lt'

function compare(operator: Operator, field: string, value: unknown): object {
  return { [operator]: [{ $getField: field }, { $literal: value }] }
}

/**
 * The condition on feedback that it is a score and meets what is asked.
 *
 * @param beforeUs - scores that were stored later are left out; null: none are
 */
export function scoreQuery(asked: Partial<ScoreConditions>, beforeUs: number | null): Query {
  const { fromTimestamp, toTimestamp, value, valueMin, valueMax } = asked
  const terms: object[] = [
    { $contains: { input: { $getField: 'feedback_type' }, substr: { $literal: TYPE_PREFIX } } },
  ]
  for (const [name, field] of Object.entries(FIELDS)) {
    const among = asked[name as keyof typeof FIELDS]
    if (among === undefined) continue
    terms.push({ $in: [{ $getField: field }, among.map((one) => ({ $literal: one }))] })
  }
  const timestamp = (text: string) => renderTimestamp(timestampUs(text))
  if (fromTimestamp) terms.push(compare('$gte', 'payload.timestamp', timestamp(fromTimestamp)))
  if (toTimestamp) terms.push(compare('$lt', 'payload.timestamp', timestamp(toTimestamp)))
  if (value !== undefined) terms.push({ $or: valuesOf(value) })
  if (valueMin !== undefined) terms.push(compare('$gte', 'payload.value', valueMin))
  if (valueMax !== undefined) terms.push(compare('$lte', 'payload.value', valueMax))
  if (beforeUs !== null) terms.push(compare('$lte', 'created_at', renderTimestamp(beforeUs)))
  return { $expr: { $and: terms } }
}

/** A value in a query string is that text, that number, or that truth. */
function valuesOf(text: string): object[] {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  const truth = { true: true, false: false }[text.toLowerCase()]
  const values = [
    text,
    ...(Number.isFinite(number) ? [number] : []),
    ...(truth === undefined ? [] : [truth]),
  ]
  return values.map((value) => compare('$eq', 'payload.value', value))
}
