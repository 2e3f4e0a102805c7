/** Chat completions, whole or as a stream. Spec: §4.3. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireScope } from '../../domain/access/permissions.ts'
import { requireIntegerBounds } from '../../domain/chat/integer-bounds.ts'
import { toErrorBody } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { completionAnswer } from '../../http/document/answers.ts'
import { toApiError } from '../../http/error-handler.ts'
import { newId } from '../../http/new-id.ts'
import { ProjectHeaders, requireProjectHeader } from '../../http/project-header.ts'
import { type ClientDeadline, startClientDeadline } from '../../http/stream/client-deadline.ts'
import { createEventStream, sendEvents, settlesWithin } from '../../http/stream/sse.ts'
import { createAdmission } from '../../inference/chat/admission.ts'
import { resolveAnswerEnvelope } from '../../inference/chat/answer-envelope.ts'
import { type ChunkOptions, renderChunks } from '../../inference/chat/chunks.ts'
import { createCompletionRecorder } from '../../inference/chat/completion-recorder.ts'
import {
  completeWhole,
  requireAnswerable,
  streamCompletion,
} from '../../inference/chat/completion-run.ts'
import { createKeyLimits } from '../../inference/chat/key-limits.ts'
import { createModelChoice } from '../../inference/models/model-choice.ts'
import type { ModelRegistry } from '../../inference/models/registry.ts'
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { CheckpointStore } from '../../store/api/checkpoints.ts'
import type { PreviewModelStore } from '../../store/api/preview-models.ts'
import type { RecordingStore } from '../../store/api/recordings.ts'

export interface ChatRoutesOptions {
  readonly models: ModelRegistry
  /** Models that were trained here, and their checkpoints. */
  readonly trained: PreviewModelStore
  readonly checkpoints: CheckpointStore
  /** Completions that may run or wait at once. */
  readonly completionsMax: number
  /** Limits of one key; null: none. */
  readonly keyCompletionsMax: number | null
  readonly keyRequestsPerMinute: number | null
  readonly keyTokensPerMinute: number | null
  /** Where completions that name a project are recorded. */
  readonly recordings: RecordingStore
  /** Scheme of the refs that are looked for in requests and answers. */
  readonly refScheme: string
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

/** How long the status waits for the first chunk: until then a failure is a real 4xx or 5xx. */
export const STATUS_HOLD_MS = 10_000
/** Silence in a stream after which a comment is sent; proxies commonly cut after 30 to 60 s. */
export const KEEP_ALIVE_MS = 15_000

export async function chatRoutes(app: App, options: ChatRoutesOptions): Promise<void> {
  const { models, trained, checkpoints, completionsMax, keyCompletionsMax } = options
  const { recordings, refScheme, nowUs } = options
  const choice = createModelChoice({ registry: models, trained, checkpoints })
  const admission = createAdmission({ placesMax: completionsMax, keyMax: keyCompletionsMax })
  const limits = createKeyLimits({
    requestsPerMinute: options.keyRequestsPerMinute,
    tokensPerMinute: options.keyTokensPerMinute,
    nowMs: () => performance.now(),
  })
  const recorder = createCompletionRecorder({
    recordings,
    refScheme,
    nowUs,
    newId,
    onLoss: ({ count, error }) => app.log.error({ err: error, count }, 'completions not recorded'),
  })
  app.addHook('onClose', recorder.close)
  const run = { models, admission, limits, recorder, nowUs }
  app.addHook('onRequest', (request, _reply, done) => {
    requireScope(request.principal, 'inference')
    done()
  })

  app.post(
    '/v1/chat/completions',
    {
      config: { invalidBody: 'openai_400', keepsBodyText: true },
      schema: {
        tags: ['inference'],
        operationId: 'createChatCompletion',
        summary: 'Complete a chat; with `stream` as server-sent events.',
        body: ChatCompletionRequest,
        shown: { headers: ProjectHeaders, response: { 200: completionAnswer() } },
      },
    },
    async (request, reply) => {
      const { body } = request
      requireIntegerBounds(body, request.bodyText ?? '')
      const requestId = chooseRequestId(request, body)
      if (requestId !== request.id) reply.header('x-request-id', requestId)
      const projectId = requireProjectHeader(request)
      const caller = requireScope(request.principal, 'inference')
      const model = await choice.choose(body.model, { caller, projectId })
      requireAnswerable(body, model)

      const abort = app.openAbort(reply)
      const deadline = startClientDeadline(request.headers, abort)
      const { signal } = abort
      const call = { request: body, body: request.bodyText ?? '', requestId }
      const setHeaders = (headers: Headers) => setReplyHeaders(reply, headers)
      const exchange = { caller, call, model, projectId, signal, setHeaders }
      const name = model.answersAs ?? body.model ?? model.id
      const envelope = resolveAnswerEnvelope(body, { requestId, model: name, nowMs: Date.now() })
      if (body.stream === true) {
        const chunks = renderChunks(streamCompletion(exchange, run), envelope, chunkOptions(body))
        return await sendStream({ app, request, reply, deadline }, chunks)
      }
      // Nothing to return: the framework would look whether the reply has been sent.
      await sendWhole(reply, completeWhole(exchange, run, envelope), deadline)
    },
  )
}

type Headers = Readonly<Record<string, string | null>>

/** Sets headers, or takes them back (null); too late once they were sent. */
function setReplyHeaders(reply: FastifyReply, headers: Headers): void {
  if (reply.sent) return
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) reply.removeHeader(name)
    else reply.header(name, value)
  }
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

/** Answers JSON text as it is: to print it again could lose an upstream's digits and unknown keys. */
async function sendWhole(
  reply: FastifyReply,
  answer: Promise<string>,
  deadline: ClientDeadline | null,
): Promise<void> {
  const askedAt = performance.now()
  const json = await (deadline === null ? answer : answer.finally(deadline.lift))
  const waitedMs = performance.now() - askedAt
  // Answers of one turn of the event loop go out together: each by itself would wake its client, and be
  // interrupted by it, while the others are still to be read.
  await nextTurn()
  nameOverhead(reply, waitedMs)
  reply.header('content-type', 'application/json; charset=utf-8').send(json)
}

/** What all answers of this turn of the event loop wait for; null while there is none. */
let turnEnd: Promise<void> | null = null

function nextTurn(): Promise<void> {
  turnEnd ??= new Promise((resolve) => {
    setImmediate(() => {
      turnEnd = null
      resolve()
    })
  })
  return turnEnd
}

/** @param waitedMs - time of the request in which there was nothing to do but wait for the backend */
function nameOverhead(reply: FastifyReply, waitedMs: number): void {
  reply.header('x-weft-overhead-ms', Math.max(0, reply.elapsedTime - waitedMs).toFixed(3))
}

interface Exchange {
  readonly app: App
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Until when the client waits for the status; libraries count no further. */
  readonly deadline: ClientDeadline | null
}

/**
 * Answers chunks as events. The status is held until the first chunk or STATUS_HOLD_MS, whichever
 * comes first; from then on a failure can only be an event.
 */
async function sendStream(
  { app, request, reply, deadline }: Exchange,
  chunks: AsyncGenerator<readonly string[]>,
): Promise<FastifyReply> {
  reply.raw.once('close', () => {
    // A reader that left before the first read would leave the chunks open for ever.
    void chunks.return(undefined).catch(() => {})
    // A finished keep-alive socket would hold a draining server open.
    if (app.draining.aborted) request.raw.socket.destroySoon()
  })
  const askedAt = performance.now()
  const first = chunks.next()
  const isEarly = await settlesWithin(first, STATUS_HOLD_MS).finally(deadline?.lift)
  nameOverhead(reply, performance.now() - askedAt)
  const events = createEventStream(chunks, {
    first,
    keepAliveMs: KEEP_ALIVE_MS,
    opensWithComment: !isEarly,
    renderFailure(error) {
      if (reply.raw.destroyed) return null
      const failure = toApiError(error, request)
      const named = { request_id: request.id, code: failure.code }
      request.log.error({ ...named, err: failure.cause ?? failure }, 'stream failed')
      return JSON.stringify(toErrorBody(failure))
    },
  })
  return sendEvents(reply, events)
}
