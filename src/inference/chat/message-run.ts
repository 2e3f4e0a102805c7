/**
 * Runs requests in the format of Anthropic's Messages API: at engines that take messages as they came, at all others as
 * chats. Both may be models of one request, since a fallback of either kind may follow.
 */
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { MessageCreateRequest } from '../../schemas/chat/messages/messages-request.ts'
import type { Delta } from '../backend.ts'
import { listOffers } from '../models/offers.ts'
import type { ServedModel } from '../models/registry.ts'
import { nameBackend, nameModel } from './backend-headers.ts'
import {
  type CompletionExchange,
  type CompletionRunOptions,
  openRun,
  type RequestFunctions,
} from './completion-run.ts'
import { collectResponse, tryModels } from './try-models.ts'
import type { ResponseEnvelope } from './whole-completion.ts'

/** The chat that a request amounts to. */
export interface MessageChat {
  readonly request: ChatCompletionRequest
  /** Names of what was left out. */
  readonly dropped: readonly string[]
}

export interface MessageExchange extends CompletionExchange {
  readonly message: MessageCreateRequest
  /** Headers and query of the client that engines get that take messages. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: string
  /** Returns the chat for a model. @throws ApiError, SchemaError for a request that the model cannot answer */
  readonly toChat: (model: ServedModel) => MessageChat
  /** Of an answer that is built here. */
  readonly envelope: ResponseEnvelope
}

export interface MessageRun {
  /** Whether the model that answers takes messages itself; valid from the first delta on. */
  isPassed(): boolean
  /** Deltas of a chat, or the events of the engine. @throws the error that ended the answer */
  stream(): AsyncGenerator<Delta>
  /** The JSON text of a chat's completion, or of the engine's message. @throws the error that ended the answer */
  whole(): Promise<string>
}

/** Whether the engine of a model takes messages itself. */
export function takesMessages(model: ServedModel): boolean {
  return listOffers(model).includes('messages')
}

export function openMessageRun(
  exchange: MessageExchange,
  options: CompletionRunOptions,
): MessageRun {
  const { message, call, headers, query, toChat, envelope } = exchange
  let isPassed = false
  const functions: RequestFunctions = {
    requireAnswerable(model) {
      if (!takesMessages(model)) toChat(model)
    },
    toCacheable(model) {
      // The asked model is the first to respond, from the cache or by itself.
      isPassed = takesMessages(model)
      if (isPassed)
        return { service: 'messages', request: message, body: call.body, headers, query }
      return { service: 'chat', ...functions.toChat(model) }
    },
    toChat(model) {
      const { request } = toChat(model)
      return { request, body: JSON.stringify(request) }
    },
    start(model, served, callOptions) {
      const { backend } = model
      isPassed = takesMessages(model)
      if (!isPassed) {
        const { request } = toChat(model)
        const chat = { ...call, request, body: JSON.stringify(request), ...served }
        return backend.complete(chat, callOptions)
      }
      if (backend.serve === undefined) throw new ApiError('internal_error')
      const answersAs = envelope.model
      const service = { service: 'messages', request: message, answersAs, headers, query } as const
      return backend.serve({ ...call, ...served, ...service }, callOptions)
    },
    nameBackend(model, upstream) {
      if (takesMessages(model)) return nameModel(model, upstream)
      const { request, dropped } = toChat(model)
      return nameBackend(request, model, upstream, dropped)
    },
  }
  const open = () => openRun(exchange, options, functions, envelope)
  return {
    isPassed: () => isPassed,
    stream: () => tryModels(open()),
    whole: () => collectResponse(open(), envelope),
  }
}
