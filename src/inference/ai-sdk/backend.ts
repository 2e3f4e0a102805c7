/**
 * Serves models of the provider packages of the AI SDK: chats and embeddings are converted to the interface that all of
 * them have, so that the format of each provider is the package's own affair.
 */
import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider'
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type {
  CallOptions,
  Capability,
  CompletionCall,
  InferenceBackend,
  RelayedDelta,
  ServiceCall,
} from '../backend.ts'
import { findCommonProvider, withoutQuery } from '../openai/backend.ts'
import { toFieldSupport } from '../openai/profiles.ts'
import { yieldOne } from '../openai/relayed-request.ts'
import type { UpstreamTimeouts } from '../openai/upstream/client.ts'
import { createRedact, type Redact } from '../openai/upstream/redaction.ts'
import {
  createTargetPool,
  type RetryClock,
  type RetryPolicy,
  SYSTEM_CLOCK,
  USUAL_RETRIES,
} from '../openai/upstream/targets.ts'
import type { ProxySettings } from '../openai/upstream/upstream-pool.ts'
import { type ProviderOptions, toSettings } from './call-options.ts'
import { type ResponseNames, toCompletion } from './completion.ts'
import { embed } from './embeddings.ts'
import { toProviderError } from './failures.ts'
import { AI_SDK_OFFERS, createPackageProfile, type PackageTraits, traitsOf } from './fields.ts'
import {
  openEmbeddingModel,
  openLanguageModel,
  openProvider,
  type ProviderFactory,
} from './package.ts'
import { createPartReader } from './part-reader.ts'
import { toPrompt } from './prompt.ts'
import { createProviderFetch, type ProviderCall } from './provider-fetch.ts'
import { type ProviderLink, runStream, runWhole, toDelta } from './provider-request.ts'
import { createRehearsal, type Rehearsal } from './rehearsal.ts'

export interface AiSdkBackendOptions {
  readonly packageName: string
  readonly create: ProviderFactory
  /** Name of the provider's method that makes models of chats. Default: `languageModel`. */
  readonly method?: string | undefined
  /** Settings of the provider besides its address and key; may hold secrets. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Texts that must not leave the server. */
  readonly secrets: readonly string[]
  /** Options of each call, by provider. */
  readonly providerOptions: ProviderOptions
  /** Null: the package knows the address. */
  readonly baseUrl: string | null
  readonly apiKey: string | null
  /** The provider's name for the model. */
  readonly model: string
  readonly offers?: readonly Capability[] | undefined
  readonly timeoutMs: UpstreamTimeouts
  readonly ca?: string | null
  readonly proxies?: ProxySettings | null
  /** How to treat fields that the package does not support. Default: reject. */
  readonly unsupported?: 'reject' | 'drop'
  /** Default true. */
  readonly callsTools?: boolean
  /** When a request is sent again. Default: only where it was certainly not processed. */
  readonly retries?: RetryPolicy
  /** For tests. */
  readonly clock?: RetryClock
}

interface Served extends ProviderLink {
  readonly options: AiSdkBackendOptions
  readonly traits: PackageTraits
  readonly chats: LanguageModelV4 | null
  readonly rehearsal: Rehearsal | null
  readonly embeddings: EmbeddingModelV4 | null
  /** Fields of a request that the package leaves out. */
  readonly dropped: WeakMap<object, readonly (keyof ChatCompletionRequest)[]>
}

/**
 * Creates a backend; nothing is sent.
 *
 * @throws Error that continues "names <package>, which ..." for a package without what is offered
 */
export function createAiSdkBackend(options: AiSdkBackendOptions): InferenceBackend {
  const { packageName, unsupported = 'reject', baseUrl } = options
  const served = openServed(options)
  const { traits, pool, fetch } = served
  return {
    kind: 'ai-sdk',
    fields: toFieldSupport(createPackageProfile(traits), unsupported),
    offers: AI_SDK_OFFERS.usual,
    ignoresUnknown: true,
    dropsUnsupported: unsupported === 'drop',
    complete: (call, run) => completeChat(served, call, run),
    serve: (call, run) => yieldOne(() => serveEmbeddings(served, call, run)),
    findDropped: (request) => served.dropped.get(request) ?? [],
    // Its usage has the meaning of the package's, whoever serves it.
    findProvider: () =>
      traits.listedAs ?? (baseUrl === null ? null : findCommonProvider([baseUrl])),
    describeUpstreams: () =>
      pool.describe().map(({ value: _, ...state }) => {
        return { ...state, address: baseUrl === null ? packageName : withoutQuery(baseUrl) }
      }),
    close: () => fetch.close(),
  }
}

function openServed(options: AiSdkBackendOptions): Served {
  const { packageName, create, model, baseUrl, apiKey, clock = SYSTEM_CLOCK } = options
  const { timeoutMs, ca = null, proxies = null, offers = AI_SDK_OFFERS.usual } = options
  const fetch = createProviderFetch({ baseUrl, timeoutMs, ca, proxies })
  const provider = openProvider(create, {
    ...options.settings,
    // Given wherever they are known: a package that lacks them reads variables of the process.
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
    ...(apiKey === null ? {} : { apiKey }),
    fetch: fetch.fetch,
  })
  const chats = offers.includes('chat') ? openLanguageModel(provider, model, options.method) : null
  const embeddings = offers.includes('embeddings') ? openEmbeddingModel(provider, model) : null
  const redact = createSecretsRedact(options)
  const toError = (error: unknown, call: ProviderCall) => toProviderError(error, call, redact)
  const dropsUnsupported = options.unsupported === 'drop'
  const rehearsal = chats && createRehearsal({ model: chats, fetch, dropsUnsupported, toError })
  return {
    options,
    traits: traitsOf(packageName),
    pool: createTargetPool([{ value: null, weight: 1 }], clock.nowMs),
    clock,
    retries: options.retries ?? USUAL_RETRIES,
    fetch,
    chats,
    rehearsal,
    embeddings,
    redact,
    dropped: new WeakMap(),
  }
}

function createSecretsRedact({ baseUrl, apiKey, secrets }: AiSdkBackendOptions): Redact {
  const address = new URL(baseUrl ?? 'https://address.invalid')
  const redacts = [apiKey, ...secrets].map((secret) => createRedact(address, secret))
  return (text) => redacts.reduce((rest, redact) => redact(rest), text)
}

async function* completeChat(
  served: Served,
  call: CompletionCall,
  run: CallOptions,
): AsyncGenerator<RelayedDelta> {
  run.signal.throwIfAborted()
  const { chats, rehearsal, traits, options } = served
  if (chats === null || rehearsal === null) throw new ApiError('internal_error')
  const { request, requestId } = call
  const { providerOptions, callsTools = true } = options
  const supportedUrls = await chats.supportedUrls
  const files = { supportedUrls, takesImagesOnly: traits.takesImagesOnly === true }
  const prompt = toPrompt(request.messages, traits, files)
  const wanted = toSettings(request, { traits, providerOptions, callsTools })
  const { settings, dropped } = await rehearsal.check(wanted, request)
  served.dropped.set(request, dropped)
  const names: ResponseNames = {
    id: `chatcmpl-${requestId}`,
    model: options.model,
    created: Math.floor(Date.now() / 1000),
    showsReasoning: request.include_reasoning !== false,
  }
  const isStream = request.stream === true
  const given = { ...settings, prompt }
  const ask = { requestId, isStream }
  if (!isStream) {
    yield await runWhole(served, ask, run, async (abortSignal) => {
      const result = await chats.doGenerate({ ...given, abortSignal })
      return toDelta([toCompletion(result, names)])
    })
    return
  }
  const includesUsage = request.stream_options?.include_usage === true
  yield* runStream(served, ask, run, includesUsage, async (abortSignal, toError) => {
    const { stream } = await chats.doStream({ ...given, abortSignal })
    const reader = createPartReader(stream, names, toError)
    return { first: await reader.next(), reader }
  })
}

async function serveEmbeddings(
  served: Served,
  call: ServiceCall,
  run: CallOptions,
): Promise<RelayedDelta> {
  const { embeddings } = served
  if (call.service !== 'embeddings' || embeddings === null) throw new ApiError('internal_error')
  const ask = { requestId: call.requestId, isStream: false }
  const response = await embed(call, embeddings, (options) =>
    runWhole(served, ask, run, async (abortSignal) =>
      embeddings.doEmbed({ ...options, abortSignal }),
    ),
  )
  return toDelta([response])
}
