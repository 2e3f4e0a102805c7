/** `POST /v1/completions`, an addition to the spec: legacy completions, relayed to engines as their answers come. */
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { ProjectHeaders, requireProjectHeader } from '../../http/project-header.ts'
import { startClientDeadline } from '../../http/stream/client-deadline.ts'
import { renderChunks } from '../../inference/chat/chunks.ts'
import type { CompletionRunOptions } from '../../inference/chat/completion-run.ts'
import { completeText, streamText } from '../../inference/chat/text-run.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import {
  TextCompletionRequest,
  TextCompletionResponse,
} from '../../schemas/chat/text-completion.ts'
import { type AnswerHeaders, sendStream, sendWhole, setReplyHeaders } from './answer-sending.ts'

export interface TextRoutesOptions {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
}

export async function textRoutes(app: App, { choice, run }: TextRoutesOptions): Promise<void> {
  app.post(
    '/v1/completions',
    {
      config: { invalidBody: 'openai_400', keepsBodyText: true },
      schema: {
        tags: ['inference'],
        operationId: 'createCompletion',
        summary: 'Go on with texts, with a model that an engine serves (addition to the spec).',
        body: TextCompletionRequest,
        shown: { headers: ProjectHeaders, response: { 200: TextCompletionResponse } },
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
        recordAs: { opName: 'completions', body },
        signal: abort.signal,
        setHeaders: (headers: AnswerHeaders) => setReplyHeaders(reply, headers),
      }
      // Answers pass as they came: nothing of the envelope is told.
      const envelope = { id: request.id, created: 0, model: '', role: '', choiceCount: 0 }
      if (request.body.stream === true) {
        const options = { includeUsage: false, continuousUsage: false }
        const chunks = renderChunks(streamText(exchange, run), envelope, options)
        return await sendStream({ app, request, reply, deadline }, chunks)
      }
      await sendWhole(reply, completeText(exchange, run, envelope), deadline)
    },
  )
}
