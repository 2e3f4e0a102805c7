/**
 * One completion on its way: the asked model, then its fallbacks, each within admission; recorded when it
 * names a project. It tells in headers who answers, and never answers itself.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  findDroppedFields,
  findUnsupportedField,
  requireValidChatRequest,
} from '../domain/chat-rules.ts'
import { requireScope } from '../domain/permissions.ts'
import { ApiError } from '../errors.ts'
import { toApiError } from '../http/error-handler.ts'
import type { Admission } from '../inference/admission.ts'
import { createAnswerRecord } from '../inference/answer-record.ts'
import type { CompletionCall, Delta } from '../inference/backend.ts'
import { withFallbacks } from '../inference/fallbacks.ts'
import type { ModelRegistry, ServedModel } from '../inference/registry.ts'
import { watchAnswer } from '../inference/watch-answer.ts'
import type { ChatCompletionRequest } from '../schemas/chat-request.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import type { CompletionRecorder } from './completion-recorder.ts'

export interface CompletionRunOptions {
  readonly models: ModelRegistry
  readonly admission: Admission
  readonly recorder: CompletionRecorder
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

export interface CompletionExchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly call: Omit<CompletionCall, 'model'>
  readonly model: ServedModel
  /** Project that it is recorded in, or null. */
  readonly projectId: string | null
  readonly signal: AbortSignal
}

/**
 * Lets a request pass that a model can answer.
 *
 * @throws ApiError of the rule that it breaks; unsupported_parameter naming the first field that the
 * model's backend rejects
 */
export function requireAnswerable(body: ChatCompletionRequest, model: ServedModel): void {
  requireValidChatRequest(body, model.capabilities)
  const param = findUnsupportedField(body, model.backend.fields)
  if (param === null) return
  const message = `The model \`${model.id}\` does not support ${param}.`
  throw new ApiError('unsupported_parameter', { param, message })
}

/** The deltas of the completion; nothing happens before the first is asked for. */
export function runCompletion(
  exchange: CompletionExchange,
  { models, admission, recorder, nowUs }: CompletionRunOptions,
): AsyncIterable<Delta> {
  const { reply, call, model, signal } = exchange
  let answering = model
  const start = (candidate: ServedModel) => () => {
    answering = candidate
    nameBackend(reply, call.request, candidate, null)
    const onUpstream = (number: number) => nameBackend(reply, call.request, candidate, number)
    return candidate.backend.complete(
      { ...call, model: candidate.backendModel, onUpstream },
      { signal },
    )
  }
  const candidates = [model, ...listFallbacks(model, models, call.request)].map(start)
  const deltas = admission.admit(() => withFallbacks(candidates))
  const { projectId } = exchange
  if (projectId === null) return deltas
  return recordDeltas(
    deltas,
    { ...exchange, projectId },
    { recorder, nowUs, answering: () => answering },
  )
}

/** The fallbacks of a model that can answer the request. */
function listFallbacks(
  model: ServedModel,
  models: ModelRegistry,
  body: ChatCompletionRequest,
): ServedModel[] {
  return model.fallbacks
    .map((name) => models.getModel(name))
    .filter((candidate) => {
      try {
        requireAnswerable(body, candidate)
        return true
      } catch {
        return false
      }
    })
}

/**
 * Tells which model answers, which of its upstreams where it has several, and which fields of the
 * request its engine will not see.
 *
 * @param upstream - its number from 1, or null
 *
 * Spec: §4.3 (headers not shown). Choice: names of the models file, never an address.
 */
function nameBackend(
  reply: FastifyReply,
  body: ChatCompletionRequest,
  { id, backend, upstreamCount = 1 }: ServedModel,
  upstream: number | null,
): void {
  if (reply.sent) return
  const name = encodeURI(id)
  reply.header('x-weft-backend', upstreamCount > 1 && upstream ? `${name}#${upstream}` : name)
  const dropped = findDroppedFields(body, backend.fields)
  reply.removeHeader('x-weft-dropped-fields')
  if (dropped.length > 0) reply.header('x-weft-dropped-fields', dropped.join(', '))
}

interface RecordOptions {
  readonly recorder: CompletionRecorder
  readonly nowUs: () => number
  /** The model that answers, as far as that is known. */
  readonly answering: () => ServedModel
}

/**
 * The same deltas; the completion that they are becomes a call of the project. The answer tells its id.
 *
 * Spec: §4.7 (project of a request).
 * Choice: the scope inference is enough: the server records, not the key, and usage must not depend on
 * what else a key may do.
 */
function recordDeltas(
  deltas: AsyncIterable<Delta>,
  { request, reply, call, model, projectId }: CompletionExchange & { projectId: string },
  { recorder, nowUs, answering }: RecordOptions,
): AsyncIterable<Delta> {
  const isStream = call.request.stream === true
  const record = createAnswerRecord({ isStream, keepsOutput: true, now: nowUs })
  const recording = recorder.begin({
    projectId,
    caller: requireScope(request.principal, 'inference'),
    body: call.body,
    record,
  })
  reply.header('x-weft-call-id', recording.callId)
  const end = (error: unknown) =>
    recording.end({
      error: error === null ? null : toApiError(error, request),
      model: answering().id,
      attributes: toAttributes(call, model, answering()),
    })
  return watchAnswer(deltas, { isStream }, { note: record.note, end })
}

function toAttributes(
  { request, requestId }: CompletionExchange['call'],
  asked: ServedModel,
  answering: ServedModel,
): JsonObject {
  return {
    model: answering.id,
    backend: answering.backend.kind,
    request_id: requestId,
    stream: request.stream === true,
    ...(answering === asked ? {} : { fallback_of: asked.id }),
    ...(request.user ? { user: request.user } : {}),
  }
}
