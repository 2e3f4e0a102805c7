/**
 * Requests to models other than chats, all additions to the spec, handled in one way. A model that does not offer
 * one is named in the error.
 */
import type { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { textCompletionResponse } from '../../http/document/responses.ts'
import { CacheableHeaders } from '../../http/project-header.ts'
import type { CompletionRunOptions } from '../../inference/chat/completion-run.ts'
import {
  type ServiceKind,
  type ServiceRequest,
  serveStream,
  serveWhole,
} from '../../inference/chat/service-run.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import { EmbeddingRequest, EmbeddingResponse } from '../../schemas/chat/services/embeddings.ts'
import { ImageRequest, ImageResponse } from '../../schemas/chat/services/images.ts'
import { ModerationRequest, ModerationResponse } from '../../schemas/chat/services/moderations.ts'
import { TextCompletionRequest } from '../../schemas/chat/services/text-completion.ts'
import {
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from '../../schemas/chat/services/tokens.ts'
import { openResponse, sendStream, sendWhole, toModelCaller } from './model-exchange.ts'

export interface ServiceRoutesOptions {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
}

interface Endpoint {
  readonly service: ServiceKind['service']
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly body: z.ZodType<ServiceRequest> & { readonly shape: object }
  /** The answer as the document shows it. */
  readonly answer: z.ZodType | ReturnType<typeof textCompletionResponse>
}

const TOKENIZE = {
  service: 'tokenize',
  summary: 'Tokenize a text or a chat, like vLLM (addition to the spec).',
  body: TokenizeRequest,
  answer: TokenizeResponse,
} as const
const DETOKENIZE = {
  service: 'detokenize',
  summary: 'Detokenize ids of tokens, like vLLM (addition to the spec).',
  body: DetokenizeRequest,
  answer: DetokenizeResponse,
} as const

/** Tokenization is also served at vLLM's own addresses. */
const ENDPOINTS: readonly Endpoint[] = [
  {
    service: 'embeddings',
    path: '/v1/embeddings',
    operationId: 'createEmbedding',
    summary: 'Create embeddings of texts (addition to the spec).',
    body: EmbeddingRequest,
    answer: EmbeddingResponse,
  },
  {
    service: 'completions',
    path: '/v1/completions',
    operationId: 'createCompletion',
    summary: 'Complete texts (addition to the spec).',
    body: TextCompletionRequest,
    answer: textCompletionResponse(),
  },
  {
    service: 'moderations',
    path: '/v1/moderations',
    operationId: 'createModeration',
    summary: 'Moderate texts or images with a model of an engine (addition to the spec).',
    body: ModerationRequest,
    answer: ModerationResponse,
  },
  {
    service: 'images',
    path: '/v1/images/generations',
    operationId: 'createImage',
    summary: 'Generate images with a model of an engine (addition to the spec).',
    body: ImageRequest,
    answer: ImageResponse,
  },
  { ...TOKENIZE, path: '/v1/tokenize', operationId: 'tokenize' },
  { ...DETOKENIZE, path: '/v1/detokenize', operationId: 'detokenize' },
  { ...TOKENIZE, path: '/tokenize', operationId: 'tokenizeAsVllm' },
  { ...DETOKENIZE, path: '/detokenize', operationId: 'detokenizeAsVllm' },
]

export async function serviceRoutes(app: App, options: ServiceRoutesOptions): Promise<void> {
  for (const endpoint of ENDPOINTS) addEndpoint(app, endpoint, options)
}

function addEndpoint(app: App, endpoint: Endpoint, { choice, run }: ServiceRoutesOptions): void {
  const { service, path, operationId, summary, body: schema, answer } = endpoint
  app.post(
    path,
    {
      config: { invalidBody: 'openai_400', body: 'text' },
      schema: {
        tags: ['inference'],
        operationId,
        summary,
        body: schema,
        shown: { headers: CacheableHeaders, response: { 200: answer } },
      },
    },
    async (request, reply) => {
      const modelCaller = toModelCaller(request)
      const model = await choice.choose(request.body.model, modelCaller)
      const { deadline, client } = openResponse(request, reply)
      const body = request.bodyText ?? ''
      const exchange = {
        ...modelCaller,
        ...client,
        kind: { service, shape: schema.shape },
        call: { request: request.body, body, requestId: request.id },
        model,
        recordAs: { opName: service, body },
      }
      if (service === 'completions' && request.body.stream === true) {
        const chunks = serveStream(exchange, run)
        return await sendStream({ request, reply, deadline }, chunks)
      }
      await sendWhole(reply, serveWhole(exchange, run), deadline)
    },
  )
}
