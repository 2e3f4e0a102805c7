/**
 * Runs one completion: tries its model, then that model's fallbacks, each under admission. Headers, metrics, limits and
 * recording observe it; the route sends the response itself.
 */
import type { Principal } from '../../domain/access/permissions.ts'
import type { CacheDirectives } from '../../domain/chat/cache-directives.ts'
import { findUnsupportedField, requireValidChatRequest } from '../../domain/chat/chat-rules.ts'
import { readTokens } from '../../domain/chat/engine-dialects.ts'
import { ApiError, refuse } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { CallOptions, CompletionCall, Delta } from '../backend.ts'
import { requireAllowed } from '../models/model-choice.ts'
import { requireOffered } from '../models/offers.ts'
import { findUpstreamModel, type ModelRegistry, type ServedModel } from '../models/registry.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import { nameBackend } from './backend-headers.ts'
import type { Spending } from './budgets/spending.ts'
import type { CompletionCache } from './cache/completion-cache.ts'
import type { CacheableRequest } from './cache/request-digest.ts'
import { chooseLimit, type KeyLimits } from './key-limits.ts'
import { type CompletionRecord, createCompletionRecord } from './record/completion-record.ts'
import type { CompletionRecorder, RecordedAs } from './record/completion-recorder.ts'
import { type CompletionWatch, type ModelLatencies, trackCompletion } from './track-completion.ts'
import {
  type CompletionObserver,
  type CompletionRun,
  collectResponse,
  composeObservers,
  listFallbacks,
  tryModels,
} from './try-models.ts'
import type { ResponseEnvelope } from './whole-completion.ts'

export interface CompletionRunOptions {
  readonly models: ModelRegistry
  readonly admission: Admission
  readonly limits: KeyLimits
  readonly spending: Spending
  readonly cache: CompletionCache
  /** Completions of a key without a limit of its own that may run at once; null: any number. */
  readonly keyCompletionsMax: number | null
  readonly recorder: CompletionRecorder
  readonly latencies: ModelLatencies
  /** Observes every completion. */
  readonly watch: CompletionWatch
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

/** The fields that all kinds of model requests share. */
export type AnyRequest = Pick<ChatCompletionRequest, 'stream' | 'priority' | 'user'>

/** A request that was checked, and where its answer goes. */
export interface CompletionExchange {
  readonly caller: Principal
  readonly call: Omit<CompletionCall, 'model' | 'request'> & { readonly request: AnyRequest }
  readonly model: ServedModel
  /** Project to record the completion in, or null. */
  readonly projectId: string | null
  /** How to record the completion. Default: as a chat. */
  readonly recordAs?: RecordedAs
  /** Names of what was left out before the call was made, for a header. Default: nothing. */
  readonly droppedFields?: readonly string[]
  /** What its headers say of cached completions. Default: nothing. */
  readonly directives?: CacheDirectives
  readonly signal: AbortSignal
  /** Sets headers of the answer, or removes them (null); does nothing once they have been sent. */
  readonly setHeaders: (headers: Headers) => void
}

type Headers = Readonly<Record<string, string | null>>

export interface ChatExchange extends CompletionExchange {
  readonly call: Omit<CompletionCall, 'model'>
}

/**
 * Checks that a model can answer a request.
 *
 * @throws ApiError capability_missing; the error of a broken rule between fields; unsupported_parameter naming the
 * first field that the model's backend rejects
 */
export function requireAnswerable(body: ChatCompletionRequest, model: ServedModel): void {
  requireOffered(model, 'chat')
  requireValidChatRequest(body, model.capabilities)
  const { fields, hints = {} } = model.backend
  const param = findUnsupportedField(body, fields)
  if (param === null) return
  const sentences = [`The model \`${model.id}\` does not support ${param}.`, hints[param] ?? []]
  refuse('unsupported_parameter', param, sentences.flat().join(' '))
}

/**
 * Returns the deltas of a streamed completion; no backend is called before the first delta is pulled.
 *
 * @param envelope - of the answer, recorded with it
 * @throws ApiError rate_limit_exceeded
 */
export function streamCompletion(
  exchange: ChatExchange,
  options: CompletionRunOptions,
  envelope: ResponseEnvelope,
): AsyncGenerator<Delta> {
  return tryModels(openRun(exchange, options, toChatFunctions(exchange), envelope))
}

/**
 * Returns the JSON text of a completion that is not streamed.
 *
 * @throws ApiError rate_limit_exceeded at once; later the error that ended the answer
 */
export function completeWhole(
  exchange: ChatExchange,
  options: CompletionRunOptions,
  envelope: ResponseEnvelope,
): Promise<string> {
  return collectResponse(openRun(exchange, options, toChatFunctions(exchange), envelope), envelope)
}

function toChatFunctions({ call, droppedFields }: ChatExchange): RequestFunctions {
  return {
    requireAnswerable: (model) => requireAnswerable(call.request, model),
    toCacheable: () => ({ service: 'chat', request: call.request, body: call.body }),
    start: ({ backend }, served, options) => backend.complete({ ...call, ...served }, options),
    nameBackend: (model, upstream) => nameBackend(call.request, model, upstream, droppedFields),
  }
}

/** The fields of a call that depend on the model. */
type ServedCall = Required<Pick<CompletionCall, 'model' | 'adapter' | 'callsTools' | 'keyId'>>

/** What differs between chats and other requests. */
export interface RequestFunctions {
  /** Checks that a fallback can answer the request. @throws ApiError if not */
  requireAnswerable(model: ServedModel): void
  /** Returns the request as its response is cached under the asked model; null: it is never cached. */
  toCacheable(model: ServedModel): CacheableRequest | null
  /** Starts a model's answer. */
  start(model: ServedModel, served: ServedCall, options: CallOptions): AsyncIterable<Delta>
  /** Returns the headers that name the answering model. @param upstream - its number from 1, or null */
  nameBackend(model: ServedModel, upstream: number | null): Headers
}

/**
 * Charges the request to its key's limits, and opens its record if one is wanted.
 *
 * @param envelope - of an answer that is built here
 */
export function openRun(
  exchange: CompletionExchange,
  options: CompletionRunOptions,
  functions: RequestFunctions,
  envelope?: ResponseEnvelope,
): CompletionRun {
  const { caller, call, model: asked, signal, setHeaders } = exchange
  const { models, admission, limits, watch, latencies } = options
  const { keyId } = caller
  setHeaders(limits.take(keyId, caller.limits))
  const keyMax = chooseLimit(caller.limits?.parallel_requests, options.keyCompletionsMax)
  const isStream = call.request.stream === true
  const { record, observer: recorder } = openRecord(exchange, options, envelope)
  const tokens = () => readTokens(record.usage()?.counts ?? {})
  const cached = options.cache.open(exchange, () => functions.toCacheable(asked))
  const observer = composeObservers([
    observeHeaders(exchange, functions),
    trackCompletion({ watch, latencies, models, isStream, tokens }),
    {
      onReplay: record.noteReplay,
      onDelta: record.note,
      onEnd: () => limits.charge(keyId, record.tokenCount()),
    },
    recorder,
    cached?.observer ?? {},
  ])
  const requireFallback = (model: ServedModel) => {
    requireAllowed(model, caller)
    functions.requireAnswerable(model)
  }
  const { body, request } = call
  const spent = { caller, projectId: exchange.projectId, body, request, record, setHeaders }
  return {
    models: [asked, ...listFallbacks(asked, models, requireFallback)],
    admission,
    toAdmissionRequest: (model) => ({
      ...toAdmissionRequest(model, call.request),
      keyId,
      keyMax,
      signal,
    }),
    ...(cached === null ? {} : { findCached: cached.find }),
    reserve: (model) => options.spending.reserve(spent, model),
    start(model) {
      const { backendModel, adapter = null, capabilities } = model
      const served = { model: backendModel, adapter, callsTools: capabilities.tools, keyId }
      return functions.start(model, served, { signal, observer })
    },
    observer,
    signal,
  }
}

/** Sets the headers that name the model, and its upstream if it has several. */
function observeHeaders(
  { model: asked, setHeaders }: CompletionExchange,
  { nameBackend }: RequestFunctions,
): Partial<CompletionObserver> {
  let current = asked
  /** Number of the asked model's upstream that got the request last. */
  let askedUpstream: number | null = null
  return {
    onModel(model) {
      current = model
      setHeaders(nameBackend(model, null))
    },
    onUpstream(number) {
      if (current === asked) askedUpstream = number
      const { upstreamCount = 1, backend } = current
      if (upstreamCount > 1 || backend.findDropped) setHeaders(nameBackend(current, number))
    },
    onAllFailed: () => setHeaders(nameBackend(asked, askedUpstream)),
  }
}

/** Spec: §4.3 priority. Choice: it orders the queue only for models served with priorities. */
function toAdmissionRequest(
  { id: modelId, concurrentMax = null, capabilities }: ServedModel,
  body: AnyRequest,
): Pick<AdmissionRequest, 'modelId' | 'modelMax' | 'priority'> {
  const priority = capabilities.prioritySchedulingEnabled ? (body.priority ?? 0) : 0
  return { modelId, modelMax: concurrentMax, priority }
}

/**
 * Opens the record of an answer. With a project, an observer records the completion as a call there, whose id is sent
 * with the answer.
 *
 * Spec: §4.7 (project of a request).
 * Choice: the scope inference is enough: the server records, not the key, and usage must not depend on the
 * key's other rights.
 */
function openRecord(
  { caller, call, model: asked, projectId, setHeaders, recordAs }: CompletionExchange,
  { recorder, nowUs }: CompletionRunOptions,
  envelope: ResponseEnvelope | undefined,
): { readonly record: CompletionRecord; readonly observer: Partial<CompletionObserver> } {
  const isStream = call.request.stream === true
  const keepsOutput = projectId !== null && recordAs?.output === undefined
  const record = createCompletionRecord({ isStream, envelope, keepsOutput, now: nowUs })
  if (projectId === null) return { record, observer: {} }
  const recording = recorder.begin({ projectId, caller, body: call.body, record, recordAs })
  setHeaders({ 'x-weft-call-id': recording.callId })
  let answering = asked
  let isReplayed = false
  const observer: Partial<CompletionObserver> = {
    onModel(model) {
      answering = model
    },
    onReplay() {
      isReplayed = true
    },
    onAllFailed(first) {
      answering = first
    },
    onEnd(error) {
      recording.end({
        error: error === null ? null : toApiError(error),
        model: answering.id,
        upstreamModel: findUpstreamModel(answering),
        attributes: {
          ...toAttributes(call, asked, answering),
          ...(isReplayed ? { cache: 'hit' } : {}),
        },
      })
    },
  }
  return { record, observer }
}

function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
}

function toAttributes(
  { request, requestId }: CompletionExchange['call'],
  asked: ServedModel,
  answering: ServedModel,
): JsonObject {
  const provider = answering.backend.findProvider?.() ?? null
  return {
    model: answering.id,
    backend: answering.backend.kind,
    ...(provider === null ? {} : { provider }),
    request_id: requestId,
    stream: request.stream === true,
    ...(answering === asked ? {} : { fallback_of: asked.id }),
    ...(request.user ? { user: request.user } : {}),
  }
}
