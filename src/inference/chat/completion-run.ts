/**
 * Runs one completion: tries its model, then that model's fallbacks, each under admission. Headers, metrics, limits and
 * recording observe it; the route sends the response itself.
 */
import type { Principal } from '../../domain/access/permissions.ts'
import type { CacheDirectives } from '../../domain/chat/cache-directives.ts'
import { findUnsupportedField, requireValidChatRequest } from '../../domain/chat/chat-rules.ts'
import { readTokens } from '../../domain/chat/engine-dialects.ts'
import { refuse } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { CallOptions, CompletionCall, Delta } from '../backend.ts'
import { requireAllowed } from '../models/model-choice.ts'
import { requireOffered } from '../models/offers.ts'
import type { ModelRegistry, ServedModel } from '../models/registry.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import { nameBackend, observeHeaders } from './backend-headers.ts'
import type { Spending } from './budgets/spending.ts'
import type { CompletionCache } from './cache/completion-cache.ts'
import type { CacheableRequest } from './cache/request-digest.ts'
import { renderReport, runGuarded } from './guard/guarded-completion.ts'
import { chooseLimit, type KeyLimits } from './key-limits.ts'
import type { CompletionRecorder, RecordedAs } from './record/completion-recorder.ts'
import { openRecord } from './record/open-record.ts'
import { type CompletionWatch, type ModelLatencies, trackCompletion } from './track-completion.ts'
import {
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
    toChat: () => call,
    start: ({ backend }, served, options) => backend.complete({ ...call, ...served }, options),
    nameBackend: (model, upstream) => nameBackend(call.request, model, upstream, droppedFields),
  }
}

/** The fields of a call that depend on the model; with the request that its guard lets pass, if it has one. */
type ServedCall = Required<Pick<CompletionCall, 'model' | 'adapter' | 'callsTools' | 'keyId'>> &
  Partial<Pick<CompletionCall, 'request' | 'body'>>

/** What differs between chats and other requests. */
export interface RequestFunctions {
  /** Checks that a fallback can answer the request. @throws ApiError if not */
  requireAnswerable(model: ServedModel): void
  /** Returns the request as its response is cached under the asked model; null: it is never cached. */
  toCacheable(model: ServedModel): CacheableRequest | null
  /** Returns the chat that a model with a guard gets. */
  toChat(model: ServedModel): Pick<CompletionCall, 'request' | 'body'>
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
  const { record, observer: recorder, onVerdict } = openRecord(exchange, options, envelope)
  const tokens = () => readTokens(record.usage()?.counts ?? {})
  const cached = options.cache.open(exchange, () => functions.toCacheable(asked))
  const observer = composeObservers([
    observeHeaders(exchange, functions.nameBackend),
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
      const { guard } = model
      if (guard === undefined || envelope === undefined) {
        return functions.start(model, served, { signal, observer })
      }
      return runGuarded({
        guard,
        about: { model: model.id, project_id: exchange.projectId },
        call: { ...functions.toChat(model), requestId: call.requestId },
        envelope,
        signal,
        start: (chat) => functions.start(model, { ...served, ...chat }, { signal, observer }),
        noteWithheld: record.note,
        onVerdict(report, redactedBody) {
          setHeaders({ 'x-weft-guard': renderReport(report) })
          onVerdict(report, redactedBody)
          // A replay is not checked again, and would record the request as it was received.
          const isFailed = Object.values(report).some(({ action }) => action === 'failed')
          if (redactedBody !== null || isFailed) cached?.skip()
        },
      })
    },
    observer,
    signal,
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
