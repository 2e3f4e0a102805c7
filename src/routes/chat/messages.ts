/**
 * `POST /v1/messages` and its count of tokens, additions to the spec: completions in the format of Anthropic's Messages
 * API. A message is a chat in another format, or comes from an engine that takes messages; models, limits and recording
 * are the same.
 */
import type { FastifyRequest } from 'fastify'
import {
  resolveThinkingDisplay,
  toChatDraft,
  toMessageParam,
} from '../../domain/chat/messages/messages-request.ts'
import { type ApiError, toMessagesError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { documentScope } from '../../http/document/openapi.ts'
import { messageOrEvents } from '../../http/document/responses.ts'
import { newId } from '../../http/new-id.ts'
import { CacheableHeaders, ProjectHeaders } from '../../http/project-header.ts'
import { renderNamedEvent, WHOLE_EVENTS } from '../../http/stream/sse.ts'
import type { CompletionRunOptions } from '../../inference/chat/completion-run.ts'
import {
  type MessageChat,
  type MessageExchange,
  openMessageRun,
  takesMessages,
} from '../../inference/chat/message-run.ts'
import { serveWhole } from '../../inference/chat/service-run.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import type { ServedModel } from '../../inference/models/registry.ts'
import { MessagesError, MessageTokenCount } from '../../schemas/chat/messages/message-object.ts'
import {
  MessageCountRequest,
  MessageCreateRequest,
} from '../../schemas/chat/messages/messages-request.ts'
import { createMessageOutput } from './message-output.ts'
import { countChatTokens } from './message-tokens.ts'
import { openResponse, sendStream, sendWhole, toModelCaller } from './model-exchange.ts'
import {
  renameErrorParam,
  renameErrorParams,
  renameErrors,
  requireChat,
} from './rename-error-param.ts'

interface MessageRoutesOptions {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
}

const config = {
  invalidBody: 'openai_400',
  body: 'exact',
  renderError: renderMessagesError,
} as const

/** What fills a pause of a stream. */
const FRAMING = { ...WHOLE_EVENTS, keepAlive: renderNamedEvent('ping', '{"type":"ping"}') }

export async function messageRoutes(
  app: App,
  { choice, run }: MessageRoutesOptions,
): Promise<void> {
  documentScope(app, ['bearer', 'apiKey'], MessagesError)
  app.post(
    '/v1/messages',
    {
      config,
      schema: {
        tags: ['inference'],
        operationId: 'createMessage',
        summary: 'Create a message in the format of the Anthropic API (addition to the spec).',
        body: MessageCreateRequest,
        shown: { headers: CacheableHeaders, response: { 200: messageOrEvents() } },
      },
    },
    async (request, reply) => {
      const { body } = request
      const modelCaller = toModelCaller(request)
      const model = await choice.choose(body.model, modelCaller)
      const toChat = createTranslation(body)
      if (!takesMessages(model)) toChat(model)

      const { deadline, client } = openResponse(request, reply)
      const name = model.answersAs ?? body.model ?? model.id
      const envelope = toEnvelope(request, name)
      const head = {
        id: `msg_${request.id.replace(/[^A-Za-z0-9]/g, '')}`,
        model: name,
        stopSequences: body.stop_sequences ?? [],
        thinking: resolveThinkingDisplay(body),
      }
      const isRecorded = modelCaller.projectId !== null
      const answer = createMessageOutput({ head, envelope, isRecorded })
      const { output, isCut } = answer
      const recordAs = { ...toRecord(request, 'messages'), output, isCut }
      const exchange = { ...modelCaller, ...client, model, envelope, recordAs, toChat }
      const message = openMessageRun({ ...exchange, ...toCall(request) }, run)
      if (body.stream !== true) {
        return await sendWhole(reply, renameErrors(answer.whole(message), toMessageParam), deadline)
      }
      const renderError = (error: ApiError) => renderErrorEvent(error, request.id)
      const sending = { request, reply, deadline, framing: FRAMING, renderError }
      return await sendStream(sending, renameErrorParams(answer.events(message), toMessageParam))
    },
  )

  app.post(
    '/v1/messages/count_tokens',
    {
      config,
      schema: {
        tags: ['inference'],
        operationId: 'countMessageTokens',
        summary: 'Count the input tokens of a message (addition to the spec).',
        description: 'For models whose engine takes messages, and for those that offer `tokenize`.',
        body: MessageCountRequest,
        shown: { headers: ProjectHeaders, response: { 200: MessageTokenCount } },
      },
    },
    async (request, reply) => {
      const { body } = request
      const modelCaller = toModelCaller(request)
      const model = await choice.choose(body.model, modelCaller)
      const { deadline, client } = openResponse(request, reply)
      const recordAs = toRecord(request, 'messages.count_tokens')
      const exchange = { ...modelCaller, ...client, model, recordAs }
      if (takesMessages(model)) {
        const kind = { service: 'message_tokens', shape: MessageCountRequest.shape } as const
        const { headers, query, call } = toCall(request)
        const counting = { ...call, request: { ...body, ...call.request }, headers, query }
        const counted = serveWhole({ ...exchange, kind, call: counting }, run)
        return await sendWhole(reply, counted, deadline)
      }
      const { request: chat } = createTranslation({ ...body, max_tokens: 1 })(model)
      const counted = countChatTokens(chat, exchange, request.id, run)
      const json = counted.then((input_tokens) => JSON.stringify({ input_tokens }))
      await sendWhole(reply, renameErrors(json, toMessageParam), deadline)
    },
  )
}

/** Returns a function that makes the chat for each model once. */
function createTranslation(message: MessageCreateRequest): MessageExchange['toChat'] {
  const made = new Map<ServedModel, MessageChat>()
  return (model) => {
    const known = made.get(model)
    if (known !== undefined) return known
    try {
      const dropsUnsupported = model.backend.dropsUnsupported === true
      const { draft, dropped } = toChatDraft(message, { dropsUnsupported })
      const chat = { request: requireChat(draft, model, toMessageParam), dropped }
      made.set(model, chat)
      return chat
    } catch (error) {
      throw renameErrorParam(error, (param) => param)
    }
  }
}

/** Headers of the protocol, which engines get that take messages, as they do the query of the beta interface. */
const FORWARDED = ['anthropic-version', 'anthropic-beta'] as const

function toCall(request: FastifyRequest<{ Body: MessageCreateRequest | MessageCountRequest }>) {
  const { body, bodyText } = request
  const { model, stream, max_tokens, metadata } = body as MessageCreateRequest
  const headers = FORWARDED.flatMap((name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return {
    message: body as MessageCreateRequest,
    headers: Object.fromEntries(headers),
    // The vendor's libraries send it with each request of their beta interface.
    query: Object(request.query).beta === 'true' ? 'beta=true' : '',
    call: {
      request: { model, stream, max_tokens, user: metadata?.user_id },
      body: bodyText ?? '',
      requestId: request.id,
    },
  }
}

/** Sent by Claude Code with each request of one run. */
const SESSION_HEADER = 'x-claude-code-session-id'

/** Spec: §4 (messages are an addition). Choice: the requests of one run of an agent are one thread. */
function toRecord({ headers, bodyText }: FastifyRequest, opName: string) {
  const body = bodyText ?? ''
  const session = headers[SESSION_HEADER]
  if (typeof session !== 'string' || !/^[\w-]{1,128}$/.test(session)) return { opName, body }
  return { opName, body, place: { traceId: newId(), parentId: null, threadId: session } }
}

function toEnvelope({ id }: FastifyRequest, model: string) {
  const created = Math.floor(Date.now() / 1000)
  return { id: `chatcmpl-${id}`, created, model, role: 'assistant', choiceCount: 1 }
}

/** Renders an error as the Messages API does; its clients read the id from the header, which is set before. */
export function renderMessagesError(error: ApiError, _status: number, { id }: FastifyRequest) {
  const { status, body } = toMessagesError(error, id)
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

function renderErrorEvent(error: ApiError, requestId: string): string {
  return renderNamedEvent('error', JSON.stringify(toMessagesError(error, requestId).body))
}
