/** Chat completions, whole or as a stream. Spec: §4.3. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  findDroppedFields,
  findUnsupportedField,
  requireValidChatRequest,
} from '../domain/chat-rules.ts'
import { requireScope } from '../domain/permissions.ts'
import { ApiError, toErrorBody } from '../errors.ts'
import type { App } from '../http/app-type.ts'
import { watchClient } from '../http/client-signal.ts'
import { toApiError } from '../http/error-handler.ts'
import { requireProjectHeader } from '../http/project-header.ts'
import { renderEventStream, sendEvents, settlesWithin } from '../http/sse.ts'
import { createAdmission } from '../inference/admission.ts'
import { resolveAnswerHead } from '../inference/answer-head.ts'
import { createAnswerRecord } from '../inference/answer-record.ts'
import type { CompletionCall, Delta } from '../inference/backend.ts'
import { type ChunkOptions, renderChunks } from '../inference/chunks.ts'
import { collectCompletion } from '../inference/collect.ts'
import type { ModelRegistry, ServedModel } from '../inference/registry.ts'
import { watchAnswer } from '../inference/watch-answer.ts'
import { ChatCompletionRequest } from '../schemas/chat-request.ts'
import { ChatCompletionResponse } from '../schemas/chat-response.ts'
import type { CallStore } from '../store/api/calls.ts'
import { type CompletionRecorder, createCompletionRecorder } from './completion-recorder.ts'

export interface ChatRoutesOptions {
  readonly models: ModelRegistry
  /** Completions that may run at once. */
  readonly completionsMax: number
  /** Where completions that name a project are recorded. */
  readonly calls: CallStore
  /** Scheme of the refs that are looked for in requests and answers. */
  readonly refScheme: string
  /** Recordings that may wait. */
  readonly recordingsMax: number
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

/** How long the status waits for the first chunk: until then a failure is a real 4xx or 5xx. */
export const STATUS_HOLD_MS = 10_000
/** Silence in a stream after which a comment is sent; proxies commonly cut after 30 to 60 s. */
export const KEEP_ALIVE_MS = 15_000

export async function chatRoutes(app: App, options: ChatRoutesOptions): Promise<void> {
  const { models, completionsMax, calls, refScheme, recordingsMax, nowUs } = options
  const admission = createAdmission({ placesMax: completionsMax })
  const recorder = createCompletionRecorder(app, {
    calls,
    refScheme,
    nowUs,
    queueMax: recordingsMax,
  })
  app.addHook('onRequest', async (request) => {
    requireScope(request.principal, 'inference')
  })

  app.post(
    '/v1/chat/completions',
    {
      config: { invalidBody: 'openai_400', keepsBodyText: true },
      schema: {
        tags: ['inference'],
        summary: 'Complete a chat; with `stream` as server-sent events.',
        body: ChatCompletionRequest,
        response: { 200: ChatCompletionResponse },
      },
    },
    async (request, reply) => {
      const { body } = request
      const requestId = chooseRequestId(request, body)
      reply.header('x-request-id', requestId)
      const projectId = requireProjectHeader(request)
      const model = models.getModel(body.model)
      requireValidChatRequest(body, model.capabilities)
      requireSupportedFields(body, model)
      nameDroppedFields(reply, body, model)

      const client = watchClient(reply)
      const signal = AbortSignal.any([client, app.draining])
      const call = { request: body, body: request.bodyText ?? '', requestId }
      const admitted = admission.admit(() =>
        model.backend.complete({ ...call, model: model.backendModel }, { signal }),
      )
      const deltas =
        projectId === null
          ? admitted
          : recordDeltas(admitted, { request, reply, recorder, nowUs, projectId, model, call })
      const name = body.model ?? model.id
      const head = resolveAnswerHead(body, { requestId, model: name, nowMs: Date.now() })
      if (body.stream !== true) return sendWhole(reply, await collectCompletion(deltas, head))
      return sendStream(
        { app, request, reply, client },
        renderChunks(deltas, head, chunkOptions(body)),
      )
    },
  )
}

/**
 * The id of the completion. Spec: §4.3 request_id.
 * Choice: a well-formed X-Request-Id header wins, then the body's, then a made one.
 */
function chooseRequestId(request: FastifyRequest, body: ChatCompletionRequest): string {
  const isFromHeader = request.headers['x-request-id'] === request.id
  return isFromHeader ? request.id : (body.request_id ?? request.id)
}

/** Spec: §4.3 stream_options. Choice: no usage chunk unless it is asked for. */
function chunkOptions({ stream_options: options }: ChatCompletionRequest): ChunkOptions {
  return {
    includeUsage: options?.include_usage ?? false,
    continuousUsage: options?.continuous_usage_stats ?? false,
  }
}

/** @throws ApiError unsupported_parameter naming the first field that the model's backend rejects */
function requireSupportedFields(body: ChatCompletionRequest, model: ServedModel): void {
  const param = findUnsupportedField(body, model.backend.fields)
  if (param === null) return
  const message = `The model \`${model.id}\` does not support ${param}.`
  throw new ApiError('unsupported_parameter', { param, message })
}

/** Tells which fields of the request the model's engine will not see. */
function nameDroppedFields(
  reply: FastifyReply,
  body: ChatCompletionRequest,
  model: ServedModel,
): void {
  const names = findDroppedFields(body, model.backend.fields)
  if (names.length > 0) reply.header('x-weft-dropped-fields', names.join(', '))
}

/** Answers JSON text as it is: to print it again could lose an upstream's digits and unknown keys. */
function sendWhole(reply: FastifyReply, json: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(json)
}

interface RecordedExchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly recorder: CompletionRecorder
  readonly nowUs: () => number
  readonly projectId: string
  readonly model: ServedModel
  readonly call: Omit<CompletionCall, 'model'>
}

/**
 * The same deltas; the completion that they are becomes a call of the project. The answer tells its id.
 *
 * Spec: §4.7 (project of a request).
 * Choice: the scope inference is enough: the server records, not the key, and usage must not depend on
 * what else a key may do.
 */
function recordDeltas(deltas: AsyncIterable<Delta>, exchange: RecordedExchange) {
  const { request, reply, recorder, nowUs, projectId, model, call } = exchange
  const isStream = call.request.stream === true
  const record = createAnswerRecord({ isStream, keepsOutput: true, now: nowUs })
  const { user } = call.request
  const recording = recorder.begin({
    projectId,
    caller: requireScope(request.principal, 'inference'),
    body: call.body,
    model: model.id,
    record,
    attributes: {
      model: model.id,
      backend: model.backend.kind,
      request_id: call.requestId,
      stream: isStream,
      ...(user ? { user } : {}),
    },
  })
  reply.header('x-weft-call-id', recording.callId)
  const end = (error: unknown) => recording.end(error === null ? null : toApiError(error, request))
  return watchAnswer(deltas, { isStream }, { note: record.note, end })
}

interface Exchange {
  readonly app: App
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Aborted when the client has left. */
  readonly client: AbortSignal
}

/**
 * Answers chunks as events. The status is held until the first chunk or STATUS_HOLD_MS, whichever
 * comes first; from then on a failure can only be an event.
 */
async function sendStream(
  { app, request, reply, client }: Exchange,
  chunks: AsyncGenerator<string>,
): Promise<FastifyReply> {
  reply.raw.once('close', () => {
    // A reader that left before the first read would leave the chunks open for ever.
    void chunks.return(undefined).catch(() => {})
    // A finished keep-alive socket would hold a draining server open.
    if (app.draining.aborted) request.raw.socket.destroySoon()
  })
  const first = chunks.next()
  const isEarly = await settlesWithin(first, STATUS_HOLD_MS)
  const events = renderEventStream(chunks, {
    first,
    keepAliveMs: KEEP_ALIVE_MS,
    opensWithComment: !isEarly,
    renderFailure(error) {
      if (client.aborted) return null
      const failure = toApiError(error, request)
      request.log.error({ err: failure.cause ?? failure, code: failure.code }, 'stream failed')
      return JSON.stringify(toErrorBody(failure))
    },
  })
  return sendEvents(reply, events)
}
