/**
 * `POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent` and `:countTokens`, also below `/v1`, additions to
 * the spec: completions in the format of Google's Gemini API. A content is a chat in another format; models, limits and recording are
 * the same.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  toCamelCase,
  toChatDraft,
  toContentParam,
} from '../../domain/chat/gemini/content-request.ts'
import { createContentWriter } from '../../domain/chat/gemini/content-response.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import { type ApiError, refuse, toGoogleError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { documentScope, hideRoutes } from '../../http/document/openapi.ts'
import { contentEvents } from '../../http/document/responses.ts'
import { CacheableHeaders, ProjectHeaders } from '../../http/project-header.ts'
import { renderEvent, WHOLE_EVENTS } from '../../http/stream/sse.ts'
import type { Delta } from '../../inference/backend.ts'
import { renderChunks } from '../../inference/chat/chunks.ts'
import { completeWhole, streamCompletion } from '../../inference/chat/completion-run.ts'
import {
  type ResponseEnvelope,
  resolveResponseEnvelope,
} from '../../inference/chat/whole-completion.ts'
import { GenerateContentRequest } from '../../schemas/chat/gemini/content-request.ts'
import {
  ContentTokenCount,
  GenerateContentResponse,
  GoogleError,
} from '../../schemas/chat/gemini/content-response.ts'
import type { Inference } from './inference.ts'
import { countChatTokens } from './message-tokens.ts'
import { openResponse, sendStream, sendWhole, toModelCaller } from './model-exchange.ts'
import { renameErrorParams, renameErrors, requireChat } from './rename-error-param.ts'
import { parseCompletion } from './response-run.ts'

const config = {
  invalidBody: 'openai_400',
  renderError: renderGoogleError,
} as const

const OPERATIONS = {
  generateContent: {
    operationId: 'generateContent',
    summary: 'Generate a response in the format of the Gemini API (addition to the spec).',
    shown: { headers: CacheableHeaders, response: { 200: GenerateContentResponse } },
  },
  streamGenerateContent: {
    operationId: 'streamGenerateContent',
    summary: 'The same as a stream, with `alt=sse` (addition to the spec).',
    shown: { headers: CacheableHeaders, response: { 200: contentEvents() } },
  },
  countTokens: {
    operationId: 'countContentTokens',
    summary:
      'Count the tokens of contents, of models that offer `tokenize` (addition to the spec).',
    shown: { headers: ProjectHeaders, response: { 200: ContentTokenCount } },
  },
} as const
type Method = keyof typeof OPERATIONS

const modelName = z.string().describe('Id or alias of the model.')
const schema = { tags: ['inference'], body: GenerateContentRequest }
/** Paths of `v1`, which newer clients ask, and ids with slashes, which clients do not encode. */
const HIDDEN_PATHS = ['/v1/models/*', '/v1beta/models/*']
const MODEL_AND_METHOD = /^(.+):(generateContent|streamGenerateContent|countTokens)$/

/** Clients take a comment for a chunk; blank lines between events they skip. */
const FRAMING = { ...WHOLE_EVENTS, keepAlive: '\n\n' }

export async function contentRoutes(app: App, inference: Inference): Promise<void> {
  documentScope(app, ['bearer', 'apiKey'], GoogleError)
  app.addHook('preValidation', async (request) => {
    request.body = toCamelCase(request.body)
  })
  for (const method of Object.keys(OPERATIONS) as Method[]) {
    const { shown, ...operation } = OPERATIONS[method]
    const params = z.object({ model: modelName })
    const url = `/v1beta/models/:model:${method}`
    app.post(
      `/v1beta/models/:model(^.+)::${method}`,
      { config, schema: { ...schema, ...operation, params, shown: { ...shown, url } } },
      (request, reply) =>
        respond(request, reply, { ...inference, model: request.params.model, method }),
    )
  }
  await app.register(async (hidden: App) => {
    hideRoutes(hidden)
    for (const path of HIDDEN_PATHS) {
      hidden.post(
        path,
        { config, schema: { ...schema, params: z.object({ '*': modelName }) } },
        (request, reply) => {
          const [, model = '', method] = MODEL_AND_METHOD.exec(request.params['*']) ?? []
          if (method === undefined) {
            const message = `The address must end with one of ${Object.keys(OPERATIONS)
              .map((name) => `:${name}`)
              .join(', ')}.`
            refuse('model_not_found', 'model', message)
          }
          return respond(request, reply, { ...inference, model, method: method as Method })
        },
      )
    }
  })
}

interface Generation extends Inference {
  /** Name of the model in the path. */
  readonly model: string
  readonly method: Method
}

async function respond(
  request: FastifyRequest<{ Body: GenerateContentRequest }>,
  reply: FastifyReply,
  { choice, run, model: name, method }: Generation,
): Promise<unknown> {
  const { body, id: requestId } = request
  const stream = method === 'streamGenerateContent'
  if (stream && Object(request.query).alt !== 'sse') {
    refuse('invalid_value', 'alt', 'alt must be sse: streams are server-sent events.')
  }
  const modelCaller = toModelCaller(request)
  const model = await choice.choose(name, modelCaller)
  const dropsUnsupported = model.backend.dropsUnsupported === true
  const { draft, dropped } = toChatDraft(body, { model: name, stream, dropsUnsupported })
  const chat = requireChat(draft, model, toContentParam)

  const { deadline, client } = openResponse(request, reply)
  const call = { request: chat, body: renderJson(chat), requestId }
  const exchange = { ...modelCaller, ...client, call, model, droppedFields: dropped }
  if (method === 'countTokens') {
    const counted = countChatTokens(chat, exchange, requestId, run)
    const json = counted.then((totalTokens) => JSON.stringify({ totalTokens }))
    return await sendWhole(reply, renameErrors(json, toContentParam), deadline)
  }
  const modelVersion = model.answersAs ?? name
  const envelope = resolveResponseEnvelope(chat, {
    requestId,
    model: modelVersion,
    nowMs: Date.now(),
  })
  const showsThoughts = body.generationConfig?.thinkingConfig?.includeThoughts === true
  const writer = createContentWriter({ responseId: requestId, modelVersion, showsThoughts })
  if (!stream) {
    const completion = completeWhole(exchange, run, envelope)
    const json = completion.then((text) => renderJson(writer.whole(parseCompletion(text))))
    return await sendWhole(reply, renameErrors(json, toContentParam), deadline)
  }
  const events = renderContents(streamCompletion(exchange, run, envelope), envelope, writer)
  const sending = { request, reply, deadline, framing: FRAMING, renderError: renderFailure }
  return await sendStream(sending, renameErrorParams(events, toContentParam))
}

async function* renderContents(
  deltas: AsyncIterable<Delta>,
  envelope: ResponseEnvelope,
  writer: ReturnType<typeof createContentWriter>,
): AsyncGenerator<readonly string[]> {
  const chunks = renderChunks(deltas, envelope, { includeUsage: true, continuousUsage: false })
  for await (const texts of chunks) {
    const said = texts
      .map((text) => writer.add(parseCompletion(text)))
      .filter((one) => one !== null)
    if (said.length > 0) yield said.map((response) => renderEvent(renderJson(response)))
  }
  yield [renderEvent(renderJson(writer.end()))]
}

function renderGoogleError(error: ApiError) {
  const { status, body } = toGoogleError(error)
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

/**
 * Renders a failure after the status as an event, and once more without a field name, as a line that readers of events
 * skip: some of the vendor's libraries find errors only there.
 */
function renderFailure(error: ApiError): string {
  const json = JSON.stringify(toGoogleError(error).body)
  return `${renderEvent(json)}${json}`
}
