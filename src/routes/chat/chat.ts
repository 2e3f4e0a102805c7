/** Chat completions, whole or as a stream. Spec: §4.3. */
import type { FastifyRequest } from 'fastify'
import { requireIntegerBounds } from '../../domain/chat/field-rules.ts'
import type { App } from '../../http/app-type.ts'
import { completionResponse } from '../../http/document/responses.ts'
import { CacheableHeaders } from '../../http/project-header.ts'
import { type ChunkOptions, renderChunks } from '../../inference/chat/chunks.ts'
import {
  type CompletionRunOptions,
  completeWhole,
  requireAnswerable,
  streamCompletion,
} from '../../inference/chat/completion-run.ts'
import { resolveResponseEnvelope } from '../../inference/chat/whole-completion.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { openResponse, sendStream, sendWhole, toModelCaller } from './model-exchange.ts'

interface ChatRoutesOptions {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
}

export async function chatRoutes(app: App, { choice, run }: ChatRoutesOptions): Promise<void> {
  app.post(
    '/v1/chat/completions',
    {
      config: { invalidBody: 'openai_400', body: 'text' },
      schema: {
        tags: ['inference'],
        operationId: 'createChatCompletion',
        summary: 'Complete a chat; with `stream` as server-sent events.',
        body: ChatCompletionRequest,
        shown: { headers: CacheableHeaders, response: { 200: completionResponse() } },
      },
    },
    async (request, reply) => {
      const { body } = request
      requireIntegerBounds(body, request.bodyText ?? '')
      const requestId = chooseRequestId(request, body)
      if (requestId !== request.id) reply.header('x-request-id', requestId)
      const modelCaller = toModelCaller(request)
      const model = await choice.choose(body.model, modelCaller)
      requireAnswerable(body, model)

      const { deadline, client } = openResponse(request, reply)
      const call = { request: body, body: request.bodyText ?? '', requestId }
      const exchange = { ...modelCaller, ...client, call, model }
      const name = model.answersAs ?? body.model ?? model.id
      const envelope = resolveResponseEnvelope(body, { requestId, model: name, nowMs: Date.now() })
      if (body.stream === true) {
        const deltas = streamCompletion(exchange, run, envelope)
        const chunks = renderChunks(deltas, envelope, chunkOptions(body))
        return await sendStream({ request, reply, deadline }, chunks)
      }
      // Returns nothing: for a value the framework would check whether the reply was sent.
      await sendWhole(reply, completeWhole(exchange, run, envelope), deadline)
    },
  )
}

/**
 * Returns the id of the completion. Spec: §4.3 request_id.
 * Choice: a well-formed X-Request-Id header comes first, then the id in the body, then a generated one.
 */
function chooseRequestId(request: FastifyRequest, body: ChatCompletionRequest): string {
  const isFromHeader = request.headers['x-request-id'] === request.id
  return isFromHeader ? request.id : (body.request_id ?? request.id)
}

/** Spec: §4.3 stream_options. Choice: no usage chunk unless it is requested. */
export function chunkOptions({ stream_options: options }: ChatCompletionRequest): ChunkOptions {
  return {
    includeUsage: options?.include_usage ?? false,
    continuousUsage: options?.continuous_usage_stats ?? false,
  }
}
