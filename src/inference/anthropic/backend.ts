/**
 * Relays to upstreams with Anthropic's Messages API. Messages pass as text, only with the name of the model replaced;
 * chats are translated in both directions.
 */
import { renderMessageRequest } from '../../domain/chat/messages/chat-to-messages.ts'
import {
  createChunkTranslation,
  toCompletion,
} from '../../domain/chat/messages/messages-to-chat.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import { ApiError } from '../../errors.ts'
import type {
  CallOptions,
  CompletionCall,
  InferenceBackend,
  RelayedDelta,
  RelayedText,
  ServiceCall,
} from '../backend.ts'
import { findCommonProvider, type Upstream, withoutQuery } from '../openai/backend.ts'
import { createTypedRules } from '../openai/event-rules.ts'
import { toFieldSupport } from '../openai/profiles.ts'
import { type Relay, relayEvents, relayWhole, yieldOne } from '../openai/relayed-request.ts'
import { responseReaderOf } from '../openai/response-body.ts'
import { createUpstreamClient, type UpstreamTimeouts } from '../openai/upstream/client.ts'
import {
  type Balance,
  createTargetPool,
  type RetryClock,
  type RetryPolicy,
  SYSTEM_CLOCK,
  USUAL_RETRIES,
} from '../openai/upstream/targets.ts'
import { type EngineRequest, toServiceRequest } from '../openai/upstream-request.ts'
import { ANTHROPIC_OFFERS, ANTHROPIC_PROFILE } from './fields.ts'

/** The version that is sent for clients that name none. */
const VERSION = '2023-06-01'

interface AnthropicBackendOptions {
  /** At least one; each request goes to the least busy one that works. */
  readonly upstreams: readonly Upstream[]
  readonly timeoutMs: UpstreamTimeouts
  /** Headers of each request, by lower-case name. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** How to treat fields of chats that the API does not have. Default: reject. */
  readonly unsupported?: 'reject' | 'drop'
  /** Whether the model calls tools. Default true. */
  readonly callsTools?: boolean
  /** Limit of tokens for chats that have none. */
  readonly maxTokens: number
  /** How the model takes the effort of a chat. Default: adaptive. */
  readonly thinking?: 'adaptive' | 'budget'
  /** How a request chooses among upstreams that work. Default: least_busy. */
  readonly balance?: Balance
  /** When a request is sent again. Default: only where it was certainly not processed. */
  readonly retries?: RetryPolicy
  /** For tests. */
  readonly clock?: RetryClock
}

export function createAnthropicBackend(options: AnthropicBackendOptions): InferenceBackend {
  const { upstreams, unsupported = 'reject', callsTools = true, clock = SYSTEM_CLOCK } = options
  const { balance, retries = USUAL_RETRIES } = options
  const addresses = upstreams.map(({ baseUrl }) => toVersionedAddress(baseUrl))
  const targets = upstreams.map((upstream, index) => {
    const baseUrl = addresses[index] ?? upstream.baseUrl
    const how = { keyHeader: 'x-api-key', timeoutMs: options.timeoutMs } as const
    const client = createUpstreamClient({ ...upstream, baseUrl, ...how })
    const value = { client, model: upstream.model ?? null, address: withoutQuery(baseUrl) }
    return { value, weight: upstream.weight ?? 1 }
  })
  const pool = createTargetPool(targets, clock.nowMs, balance)
  const relay: Relay = { pool, callsTools, clock, retries }
  return {
    kind: 'anthropic',
    fields: toFieldSupport(ANTHROPIC_PROFILE, unsupported),
    offers: ANTHROPIC_OFFERS,
    dropsUnsupported: unsupported === 'drop',
    complete: (call, run) => completeChat(relay, options, call, run),
    serve: (call, run) => serveMessages(relay, options, call, run),
    // Its usage has the meaning of Anthropic's, whoever serves it.
    findProvider: () => findCommonProvider(addresses) ?? 'anthropic',
    describeUpstreams: (kind) =>
      pool.describe(kind).map(({ value: { address }, ...state }) => ({ ...state, address })),
    async close() {
      await Promise.all(targets.map(({ value }) => value.client.close()))
    },
  }
}

/** Client libraries of the vendor take the address without the version. */
function toVersionedAddress(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`
  return url.href
}

/** The headers of a request: those of the client go before those of the models file, and betas are joined. */
function toHeaders(
  { headers = {} }: AnthropicBackendOptions,
  sent: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const all: Record<string, string> = { 'anthropic-version': VERSION, ...headers, ...sent }
  const betas = [headers['anthropic-beta'], sent['anthropic-beta']].filter(Boolean).join(',')
  if (betas !== '') all['anthropic-beta'] = betas
  return all
}

function serveMessages(
  relay: Relay,
  options: AnthropicBackendOptions,
  call: ServiceCall,
  run: CallOptions,
): AsyncIterable<RelayedDelta> {
  const { service } = call
  if (service !== 'messages' && service !== 'message_tokens') throw new ApiError('internal_error')
  const ask = { ...toServiceRequest('generic', call), headers: toHeaders(options, call.headers) }
  if (ask.isStream) return relayEvents(relay, ask, run, createTypedRules)
  return yieldOne(() => relayWhole(relay, ask, run, responseReaderOf(service)))
}

function completeChat(
  relay: Relay,
  options: AnthropicBackendOptions,
  call: CompletionCall,
  run: CallOptions,
): AsyncIterable<RelayedDelta> {
  const { request, body } = call
  const { maxTokens, thinking = 'adaptive' } = options
  const ask: EngineRequest = {
    ...call,
    path: '/messages',
    isStream: request.stream === true,
    headers: toHeaders(options),
    render: ({ model, callsTools }) =>
      renderMessageRequest(body, model, { maxTokens, thinking, callsTools }),
  }
  const created = Math.floor(Date.now() / 1000)
  if (ask.isStream) {
    const events = relayEvents(relay, ask, run, createTypedRules)
    return translateEvents(events, created, request.stream_options?.include_usage === true)
  }
  return yieldOne(async () => {
    const { texts } = await relayWhole(relay, ask, run, responseReaderOf('messages'))
    return toDelta(texts.map(({ json }) => toText(toCompletion(json, created))))
  })
}

async function* translateEvents(
  events: AsyncIterable<RelayedDelta>,
  created: number,
  includesUsage: boolean,
): AsyncGenerator<RelayedDelta> {
  const translation = createChunkTranslation(created)
  for await (const { texts } of events) {
    const chunks = texts.flatMap(({ value }) => translation.add(value))
    if (chunks.length === 0) continue
    yield toDelta(
      chunks.map(({ chunk, isUsage }) => ({
        ...toText(chunk),
        isHidden: isUsage && !includesUsage,
      })),
    )
  }
}

function toDelta(texts: readonly RelayedText[]): RelayedDelta {
  return { type: 'relayed', texts }
}

function toText(value: Readonly<Record<string, unknown>>): RelayedText {
  return { json: renderJson(value), value }
}
