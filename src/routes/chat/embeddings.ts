/** `POST /v1/embeddings`, an addition to the spec: relayed to engines, as their answers come. */
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { ProjectHeaders, requireProjectHeader } from '../../http/project-header.ts'
import { startClientDeadline } from '../../http/stream/client-deadline.ts'
import type { CompletionRunOptions } from '../../inference/chat/completion-run.ts'
import { embed } from '../../inference/chat/embedding-run.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import { EmbeddingRequest, EmbeddingResponse } from '../../schemas/chat/embeddings.ts'
import { type AnswerHeaders, sendWhole, setReplyHeaders } from './answer-sending.ts'

export interface EmbeddingRoutesOptions {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
}

export async function embeddingRoutes(
  app: App,
  { choice, run }: EmbeddingRoutesOptions,
): Promise<void> {
  app.post(
    '/v1/embeddings',
    {
      config: { invalidBody: 'openai_400', keepsBodyText: true },
      schema: {
        tags: ['inference'],
        operationId: 'createEmbedding',
        summary: 'Embed texts with a model that an engine serves (addition to the spec).',
        body: EmbeddingRequest,
        shown: { headers: ProjectHeaders, response: { 200: EmbeddingResponse } },
      },
    },
    async (request, reply) => {
      const projectId = requireProjectHeader(request)
      const caller = requireScope(request.principal, 'inference')
      const model = await choice.choose(request.body.model, { caller, projectId })
      const abort = app.openAbort(reply)
      const deadline = startClientDeadline(request.headers, abort)
      const body = request.bodyText ?? ''
      const exchange = {
        caller,
        call: { request: request.body, body, requestId: request.id },
        model,
        projectId,
        recordAs: { opName: 'embeddings', body },
        signal: abort.signal,
        setHeaders: (headers: AnswerHeaders) => setReplyHeaders(reply, headers),
      }
      await sendWhole(reply, embed(exchange, run), deadline)
    },
  )
}
