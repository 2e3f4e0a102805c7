/**
 * Relays completions to an OpenAI-compatible upstream. Requests and answers pass as text: no answer
 * is rebuilt, and a broken answer never looks complete.
 */
import { findProviderId } from '../../domain/prices/price-list.ts'
import type {
  BytesDelta,
  CallOptions,
  InferenceBackend,
  ModelDetails,
  RelayedDelta,
  ServiceCall,
} from '../backend.ts'
import { addUsagesUp, createResponseAssembly } from './choice-usage.ts'
import { toVllmTokens } from './engine-tokens.ts'
import {
  countChoices,
  createChunkRules,
  createTypedRules,
  type StreamRequest,
} from './event-rules.ts'
import { readFileResponse } from './file-response.ts'
import { createModelProbe } from './model-probe.ts'
import {
  ENGINE_OFFERS,
  type Engine,
  findUnknownCompletionFields,
  PROFILES,
  type Profile,
  toFieldSupport,
} from './profiles.ts'
import {
  type Begin,
  type Begun,
  type Relay,
  relayEvents,
  relayParts,
  relayWhole,
  yieldOne,
} from './relayed-request.ts'
import { editMembers } from './request.ts'
import { readCompletion, responseReaderOf } from './response-body.ts'
import {
  createUpstreamClient,
  type UpstreamClientOptions,
  type UpstreamTimeouts,
} from './upstream/client.ts'
import {
  type Balance,
  createTargetPool,
  type RetryClock,
  type RetryPolicy,
  SYSTEM_CLOCK,
  USUAL_RETRIES,
} from './upstream/targets.ts'
import {
  type EngineRequest,
  isFileService,
  toChatRequest,
  toServiceRequest,
} from './upstream-request.ts'

/** One address that serves the model. */
export interface Upstream extends Omit<UpstreamClientOptions, 'timeoutMs'> {
  /** Model name at this upstream; null: the name in the call. */
  readonly model?: string | null
  /** Share of the load, above 0. Default 1. */
  readonly weight?: number
}

interface OpenAiBackendOptions {
  /** At least one; each request goes to one that works, by `balance`. */
  readonly upstreams: readonly Upstream[]
  readonly timeoutMs: UpstreamTimeouts
  /** Kind of the engine, which decides how fields are sent to it. Default: generic. */
  readonly engine?: Engine
  /** How to treat fields that the engine does not honour. Default: reject. */
  readonly unsupported?: 'reject' | 'drop'
  /** Whether the model calls tools; if not, upstreams are told so. Default false. */
  readonly callsTools?: boolean
  /** How a request chooses among upstreams that work. Default: least_busy. */
  readonly balance?: Balance
  /** When a request is sent again. Default: only where it was certainly not processed. */
  readonly retries?: RetryPolicy
  /** For tests. */
  readonly clock?: RetryClock
}

/** Returns the provider that serves all of these addresses; null where there is none, as on a server of one's own. */
export function findCommonProvider(addresses: readonly string[]): string | null {
  const isPublic = addresses.every((address) => address.startsWith('https://'))
  // The price list takes megabytes, which servers of one's own do not need.
  const found = new Set(isPublic ? addresses.map(findProviderId) : [])
  const [only = null] = found
  return found.size === 1 ? only : null
}

interface EngineRelay extends Relay {
  readonly engine: Engine
  readonly profile: Profile
  readonly describe: (model: string) => ModelDetails
}

/** Creates a backend over upstreams that serve the same model, each with its own connection pool. */
export function createOpenAiBackend(options: OpenAiBackendOptions): InferenceBackend {
  const { upstreams, engine = 'generic', unsupported = 'reject', clock = SYSTEM_CLOCK } = options
  const { balance, retries = USUAL_RETRIES } = options
  const targets = upstreams.map((upstream) => ({
    value: {
      client: createUpstreamClient({ ...upstream, timeoutMs: options.timeoutMs }),
      model: upstream.model ?? null,
      address: withoutQuery(upstream.baseUrl),
    },
    weight: upstream.weight ?? 1,
  }))
  const pool = createTargetPool(targets, clock.nowMs, balance)
  const sources = targets.map(({ value: { client, model } }) => ({
    load: client.listModels,
    model,
  }))
  const { callsTools = false } = options
  const probe = createModelProbe({ sources, nowMs: clock.nowMs })
  const describe = probe.find
  let provider: string | null | undefined
  const failsRequestsWith500 = engine === 'llama-server'
  const own = { engine, profile: PROFILES[engine], describe }
  const relay: EngineRelay = { pool, callsTools, clock, retries, failsRequestsWith500, ...own }
  return {
    kind: engine,
    fields: toFieldSupport(PROFILES[engine], unsupported),
    complete(call, run) {
      const ask = toChatRequest(relay.profile, call)
      if (ask.isStream) return relayChunks(relay, ask, call, run)
      if (!sumsUsages(engine, call.request)) {
        return yieldOne(() => relayWhole(relay, ask, run, readCompletion))
      }
      const streamed = asStream(call)
      return yieldOne(() =>
        assemble(relayChunks(relay, toChatRequest(relay.profile, streamed), streamed, run)),
      )
    },
    offers: ENGINE_OFFERS[engine].usual,
    findProvider() {
      if (provider === undefined)
        provider = findCommonProvider(upstreams.map(({ baseUrl }) => baseUrl))
      return provider
    },
    serve(call, run) {
      const ask = toServiceRequest(engine, call)
      if (isFileService(call.service)) return relayFile(relay, ask, call, run)
      if (call.service === 'completions' && ask.isStream) {
        return relayChunks(relay, ask, call, run)
      }
      if (call.service === 'completions' && sumsUsages(engine, call.request)) {
        const streamed = asStream(call)
        const chunks = relayChunks(relay, toServiceRequest(engine, streamed), streamed, run)
        return yieldOne(() => assemble(chunks))
      }
      if (ask.isStream) return relayEvents(relay, ask, run, createTypedRules)
      return relayService(relay, ask, call, run)
    },
    dropsUnsupported: unsupported === 'drop',
    findUnhonoured: (request) => findUnknownCompletionFields(engine, request),
    describeUpstreams: (kind) =>
      pool.describe(kind).map(({ value: { address }, ...state }) => ({ ...state, address })),
    describeModel: describe,
    async close() {
      await Promise.all(targets.map(({ value }) => value.client.close()))
    },
  }
}

/** Whether the usages of the choices must be added up here. */
function sumsUsages(engine: Engine, request: StreamRequest): boolean {
  return engine === 'llama-server' && countChoices(request) > 1
}

/** Returns the call with a request for a stream. */
function asStream<C extends { readonly request: object; readonly body: string }>(call: C): C {
  const body = editMembers(call.body, { set: new Map([['stream', 'true']]) })
  return { ...call, body, request: { ...call.request, stream: true } }
}

async function assemble(chunks: AsyncIterable<RelayedDelta>): Promise<RelayedDelta> {
  const assembly = createResponseAssembly()
  for await (const { texts } of chunks) for (const text of texts) assembly.add(text)
  return { type: 'relayed', texts: [assembly.render()] }
}

/** Removes the query, since some gateways take a key there. */
export function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

async function* relayService(
  relay: EngineRelay,
  ask: EngineRequest,
  { service, model }: ServiceCall,
  run: CallOptions,
): AsyncGenerator<RelayedDelta> {
  const answer = await relayWhole(relay, ask, run, responseReaderOf(service))
  const contextTokens = () => relay.describe(model).max_model_len ?? null
  yield toVllmTokens(answer, { engine: relay.engine, service, contextTokens })
}

/** Relays the stream of a chat or of a legacy completion. */
function relayChunks(
  relay: EngineRelay,
  ask: EngineRequest,
  { request }: { readonly request: StreamRequest },
  run: CallOptions,
): AsyncGenerator<RelayedDelta> {
  return relayEvents(relay, ask, run, (redact) => {
    const rules = createChunkRules(request, redact)
    if (!sumsUsages(relay.engine, request)) return rules
    return addUsagesUp(rules, request.n ?? 1, countChoices(request))
  })
}

function relayFile(relay: Relay, ask: EngineRequest, { service }: ServiceCall, run: CallOptions) {
  const begin: Begin<Begun<RelayedDelta | BytesDelta>> = (answer, redact) =>
    readFileResponse(answer, redact, service)
  return relayParts(relay, ask, run, { begin, toDelta: (delta) => delta })
}
