/**
 * Relays completions to an OpenAI-compatible upstream. Requests and answers pass as text: no answer
 * is rebuilt, and a broken answer never looks complete.
 */
import { ApiError } from '../../errors.ts'
import type {
  BytesDelta,
  Delta,
  InferenceBackend,
  ModelDetails,
  RelayedDelta,
  ServiceCall,
} from '../backend.ts'
import { createEventReader, readAnswerOf, readCompletion, readErrorText } from './answer-body.ts'
import { toVllmTokens } from './engine-tokens.ts'
import { createChunkRules, createTypedRules, type EventRules } from './event-rules.ts'
import { readFileAnswer } from './file-answer.ts'
import { createModelProbe } from './model-probe.ts'
import { ENGINE_OFFERS, type Engine, PROFILES, type Profile, toFieldSupport } from './profiles.ts'
import { isNonsense, isUpstreamFault, noteFailure, toTryFailure } from './try-failures.ts'
import {
  createUpstreamClient,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamClientOptions,
  type UpstreamTimeouts,
} from './upstream/client.ts'
import { parseRetryAfter, toStatusError } from './upstream/errors.ts'
import type { Redact } from './upstream/redaction.ts'
import { type RetryClock, SYSTEM_CLOCK, withRetries } from './upstream/retry.ts'
import { createTargetPool, type TargetPool, type TargetUse } from './upstream/target-pool.ts'
import { type Ask, askChat, askService, isFileService } from './upstream-ask.ts'

/** One address that serves the model. */
export interface Upstream extends Omit<UpstreamClientOptions, 'timeoutMs'> {
  /** Model name at this upstream; null: the name in the call. */
  readonly model?: string | null
  /** Share of the load, above 0. Default 1. */
  readonly weight?: number
}

interface OpenAiBackendOptions {
  /** At least one; each request goes to the least busy one that works. */
  readonly upstreams: readonly Upstream[]
  readonly timeoutMs: UpstreamTimeouts
  /** Kind of the engine, which decides how fields are sent to it. Default: generic. */
  readonly engine?: Engine
  /** How to treat fields that the engine does not honour. Default: reject. */
  readonly unsupported?: 'reject' | 'drop'
  /** Whether the model calls tools; if not, upstreams are told so. Default false. */
  readonly callsTools?: boolean
  /** For tests. */
  readonly clock?: RetryClock
}

interface Target {
  readonly client: UpstreamClient
  readonly model: string | null
  readonly address: string
}

interface Relay {
  readonly pool: TargetPool<Target>
  readonly engine: Engine
  readonly profile: Profile
  readonly callsTools: boolean
  readonly clock: RetryClock
  readonly describe: (model: string) => ModelDetails
}

/** Creates a backend over upstreams that serve the same model, each with its own connection pool. */
export function createOpenAiBackend(options: OpenAiBackendOptions): InferenceBackend {
  const { upstreams, engine = 'generic', unsupported = 'reject', clock = SYSTEM_CLOCK } = options
  const targets = upstreams.map((upstream) => ({
    value: {
      client: createUpstreamClient({ ...upstream, timeoutMs: options.timeoutMs }),
      model: upstream.model ?? null,
      address: withoutQuery(upstream.baseUrl),
    },
    weight: upstream.weight ?? 1,
  }))
  const pool = createTargetPool(targets, clock.nowMs)
  const sources = targets.map(({ value: { client, model } }) => ({
    load: client.listModels,
    model,
  }))
  const { callsTools = false } = options
  const probe = createModelProbe({ sources, nowMs: clock.nowMs })
  const describe = probe.find
  const relay = { pool, engine, profile: PROFILES[engine], callsTools, clock, describe }
  return {
    kind: engine,
    fields: toFieldSupport(PROFILES[engine], unsupported),
    complete: (call, { signal }) =>
      relayEvents(relay, askChat(relay.profile, call), signal, (redact) =>
        createChunkRules(call.request, redact),
      ),
    completeWhole: (call, { signal }) =>
      relayWhole(relay, askChat(relay.profile, call), signal, readCompletion),
    offers: ENGINE_OFFERS[engine].usual,
    serve(call, { signal }) {
      const ask = askService(engine, call)
      if (isFileService(call.service)) return relayFile(relay, ask, call, signal)
      if (call.service === 'completions' && ask.isStream) {
        return relayEvents(relay, ask, signal, (redact) => createChunkRules(call.request, redact))
      }
      if (ask.isStream) return relayEvents(relay, ask, signal, createTypedRules)
      return relayService(relay, ask, call, signal)
    },
    describeUpstreams: () =>
      pool.look().map(({ value: { address }, ...state }) => ({ ...state, address })),
    describeModel: describe,
    async close() {
      await Promise.all(targets.map(({ value }) => value.client.close()))
    },
  }
}

/** Removes the query, since some gateways take a key there. */
function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}

/** The beginning of an answer and a reader for the rest. */
interface Begun<T> {
  readonly first: T
  /** Returns null after the last part. */
  readonly rest: { next(): Promise<T | null> }
}

/** An answer that has begun. */
interface Opened<T> {
  readonly answer: UpstreamAnswer
  readonly use: TargetUse<Target>
  /** What was read of the answer so far. */
  readonly begun: T
}

/** Reads the beginning of an answer. @throws ApiError for an error in it */
type Begin<T> = (answer: UpstreamAnswer, redact: Redact) => Promise<T>

async function relayWhole(
  relay: Relay,
  ask: Ask,
  signal: AbortSignal,
  read: Begin<RelayedDelta>,
): Promise<RelayedDelta> {
  const { answer, use, begun } = await openWithRetries(relay, ask, signal, read)
  answer.close({ isComplete: true })
  use.end()
  return begun
}

async function* relayService(
  relay: Relay,
  ask: Ask,
  { service, model }: ServiceCall,
  signal: AbortSignal,
): AsyncGenerator<RelayedDelta> {
  const answer = await relayWhole(relay, ask, signal, readAnswerOf(service))
  const contextTokens = () => relay.describe(model).max_model_len ?? null
  yield toVllmTokens(answer, { engine: relay.engine, service, contextTokens })
}

type Texts = RelayedDelta['texts']

function relayEvents(
  relay: Relay,
  ask: Ask,
  signal: AbortSignal,
  openRules: (redact: Redact) => EventRules,
): AsyncGenerator<RelayedDelta> {
  const begin: Begin<Begun<Texts>> = (answer, redact) =>
    beginStream(answer, redact, openRules(redact))
  const open = () => openWithRetries(relay, ask, signal, begin)
  return passOn(open, signal, (texts) => ({ type: 'relayed', texts }))
}

function relayFile(relay: Relay, ask: Ask, { service }: ServiceCall, signal: AbortSignal) {
  const begin: Begin<Begun<RelayedDelta | BytesDelta>> = (answer, redact) =>
    readFileAnswer(answer, redact, service)
  return passOn(
    () => openWithRetries(relay, ask, signal, begin),
    signal,
    (delta) => delta,
  )
}

async function* passOn<T, D extends Delta>(
  open: () => Promise<Opened<Begun<T>>>,
  signal: AbortSignal,
  toDelta: (part: T) => D,
): AsyncGenerator<D> {
  const { answer, use, begun } = await open()
  let isComplete = false
  let isTrusted = true
  try {
    for (let part: T | null = begun.first; part !== null; part = await begun.rest.next()) {
      yield toDelta(part)
    }
    isComplete = true
  } catch (error) {
    if (!signal.aborted && isUpstreamFault(error)) use.fail()
    isTrusted = !isNonsense(error)
    throw error
  } finally {
    answer.close({ isComplete, isTrusted })
    use.end()
  }
}

function openWithRetries<T>(
  relay: Relay,
  ask: Ask,
  signal: AbortSignal,
  begin: Begin<T>,
): Promise<Opened<T>> {
  const { pool, clock } = relay
  const tried = new Set<number>()
  return withRetries(() => open({ ...relay, begin }, ask, tried, signal), {
    clock,
    signal,
    hasOther: () => pool.hasFresh(tried),
  })
}

/**
 * Makes one try and returns an answer that does not begin with an error.
 *
 * @param tried - numbers of the upstreams tried so far; this one is added
 * @throws TryFailure where another try may help
 */
async function open<T>(
  { pool, callsTools, begin }: Relay & { readonly begin: Begin<T> },
  ask: Ask,
  tried: Set<number>,
  signal: AbortSignal,
): Promise<Opened<T>> {
  const { model, requestId, onUpstream, onTried, ...how } = ask
  const use = pool.take(tried)
  tried.add(use.number)
  onUpstream?.(use.number)
  const beganMs = performance.now()
  const { client } = use.value
  let answer: UpstreamAnswer | null = null
  try {
    const target = { model: use.value.model ?? model, callsTools }
    answer = await client.post(ask.render(target), { ...how, requestId, signal })
    if (answer.status !== 200) throw await readStatusError(answer, client.redact)
    if (!answer.isReadable) throw unreadable()
    const begun = await begin(answer, client.redact)
    use.succeed()
    return { answer, use, begun }
  } catch (error) {
    const failure = signal.aborted ? error : toTryFailure(error)
    answer?.close({ isComplete: false, isTrusted: !isNonsense(error) })
    // An abort by the caller is no failure of the upstream.
    if (!signal.aborted) noteFailure(use, failure)
    use.end()
    throw failure
  } finally {
    onTried?.(performance.now() - beganMs)
  }
}

/**
 * Spec: §8 (not shown).
 * Choice: a 200 whose first event is an error counts as a failed status: the answer has not begun.
 */
async function beginStream(answer: UpstreamAnswer, redact: Redact, rules: EventRules) {
  const rest = createEventReader(answer, redact, rules)
  const first = await rest.next()
  if (first === null) throw new ApiError('upstream_invalid_response')
  return { first, rest }
}

/** Returns the error for an answer without a success status. */
async function readStatusError(answer: UpstreamAnswer, redact: Redact): Promise<ApiError> {
  const text = await readErrorText(answer)
  const retryAfterS = parseRetryAfter(answer.retryAfter, Date.now())
  return toStatusError({ status: answer.status, text, retryAfterS, redact })
}

function unreadable(): ApiError {
  return new ApiError('upstream_invalid_response', { cause: new Error('unknown compression') })
}
