/**
 * Runs one completion: tries its model, then that model's fallbacks, each under admission, and records it if the
 * request names a project. Sets headers that name the answering model; the route sends the answer itself.
 */
import type { Principal } from '../../domain/access/permissions.ts'
import { findUnsupportedField, requireValidChatRequest } from '../../domain/chat/chat-rules.ts'
import { ApiError, refuse } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { CompletionCall, Delta } from '../backend.ts'
import { listFallbacks } from '../models/list-fallbacks.ts'
import { requireOffered } from '../models/offers.ts'
import type { ModelRegistry, ServedModel } from '../models/registry.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { AnswerEnvelope } from './answer-envelope.ts'
import {
  type AnswerRunOptions,
  type AnswerWatcher,
  answerWhole,
  type Candidate,
  streamAnswer,
} from './answer-run.ts'
import { nameBackend } from './backend-headers.ts'
import { type CompletionWatch, joinWatchers, openCompletionTold } from './completion-watch.ts'
import type { KeyLimits } from './key-limits.ts'
import type { ModelMeter } from './model-meter.ts'
import { createAnswerRecord } from './record/answer-record.ts'
import type { CompletionRecorder, RecordedAs } from './record/completion-recorder.ts'

export interface CompletionRunOptions {
  readonly models: ModelRegistry
  readonly admission: Admission
  readonly limits: KeyLimits
  readonly recorder: CompletionRecorder
  readonly meter: ModelMeter
  /** Observes every completion. */
  readonly watch: CompletionWatch
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

/** The fields that all kinds of model requests share. */
export type AnyRequest = Pick<ChatCompletionRequest, 'stream' | 'priority' | 'user'>

/** How to run requests of one kind. */
export interface RequestKind<R extends AnyRequest> {
  /** Checks the request. @throws ApiError if the model cannot answer it */
  requireAnswerable(request: R, model: ServedModel): void
  /** Starts a model's answer. */
  start(
    model: ServedModel,
    call: Omit<CompletionCall, 'request'> & { readonly request: R },
    options: { readonly signal: AbortSignal },
  ): Pick<Candidate, 'start' | 'startWhole'>
  /** Returns the headers that name the answering model. @param upstream - its number from 1, or null */
  nameBackend(
    request: R,
    model: ServedModel,
    upstream: number | null,
    droppedFields?: readonly string[],
  ): Readonly<Record<string, string | null>>
}

export interface CompletionExchange<R extends AnyRequest = ChatCompletionRequest> {
  readonly caller: Principal
  readonly call: Omit<CompletionCall, 'model' | 'request'> & { readonly request: R }
  readonly model: ServedModel
  /** Project to record the completion in, or null. */
  readonly projectId: string | null
  /** How to record the completion. Default: as a chat. */
  readonly recordAs?: RecordedAs
  /** Names of what was left out before the call was made, for a header. Default: nothing. */
  readonly droppedFields?: readonly string[]
  readonly signal: AbortSignal
  /** Sets headers of the answer, or removes them (null); does nothing once they have been sent. */
  readonly setHeaders: (headers: Readonly<Record<string, string | null>>) => void
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
  exchange: CompletionExchange,
  options: CompletionRunOptions,
  envelope: AnswerEnvelope,
): AsyncIterable<Delta> {
  const { turns, run } = prepareRun(exchange, options, CHAT, envelope)
  return streamAnswer(turns, run)
}

/**
 * Returns the JSON text of a completion that is not streamed.
 *
 * @throws ApiError rate_limit_exceeded at once; later the error that ended the answer
 */
export function completeWhole(
  exchange: CompletionExchange,
  options: CompletionRunOptions,
  envelope: AnswerEnvelope,
): Promise<string> {
  const { turns, run } = prepareRun(exchange, options, CHAT, envelope)
  return answerWhole(turns, run, envelope)
}

const CHAT: RequestKind<ChatCompletionRequest> = {
  requireAnswerable,
  start({ backend }, call, options) {
    const { completeWhole } = backend
    return {
      start: () => backend.complete(call, options),
      startWhole: completeWhole && (() => completeWhole(call, options)),
    }
  },
  nameBackend,
}

interface PreparedRun {
  /** Of the model and its fallbacks. */
  readonly turns: readonly (() => Candidate)[]
  readonly run: AnswerRunOptions
}

/**
 * Charges the request to its key's limits, and opens its record if one is wanted.
 *
 * @param envelope - of an answer that is built here
 */
export function prepareRun<R extends AnyRequest>(
  exchange: CompletionExchange<R>,
  options: CompletionRunOptions,
  kind: RequestKind<R>,
  envelope?: AnswerEnvelope,
): PreparedRun {
  const { caller, call, model, signal, setHeaders } = exchange
  const { models, admission, limits, meter } = options
  const { keyId } = caller
  setHeaders(limits.take(keyId))
  let answering = model
  /** Number of the asked model's upstream that got the request last. */
  let askedUpstream: number | null = null
  const headersOf = (candidate: ServedModel, upstream: number | null) =>
    kind.nameBackend(call.request, candidate, upstream, exchange.droppedFields)
  const told = openCompletionTold(options.watch, models, call.request.stream === true)
  const watchUpstream = (candidate: ServedModel) => {
    const { asked, waited: onTried } = told.turnTo(candidate)
    const isOneOfMany = (candidate.upstreamCount ?? 1) > 1
    const onUpstream = (number: number) => {
      asked()
      if (candidate === model) askedUpstream = number
      if (isOneOfMany) setHeaders(headersOf(candidate, number))
    }
    return { onUpstream, onTried }
  }
  const toTurn = (candidate: ServedModel) => (): Candidate => {
    answering = candidate
    setHeaders(headersOf(candidate, null))
    const { backendModel, adapter = null, capabilities } = candidate
    const upstream = watchUpstream(candidate)
    const served = { model: backendModel, adapter, callsTools: capabilities.tools }
    const backendCall = { ...call, ...served, keyId, ...upstream }
    const place = toPlace(candidate, keyId, call.request, signal)
    return { place, ...kind.start(candidate, backendCall, { signal }) }
  }
  const others = listFallbacks(model, models, (candidate) =>
    kind.requireAnswerable(call.request, candidate),
  )
  const onAllFailed = () => {
    answering = model
    told.turnBack()
    setHeaders(headersOf(model, askedUpstream))
  }
  const watching = { ...options, envelope, answering: () => answering }
  const watcher =
    exchange.projectId === null && !limits.countsTokens
      ? told
      : joinWatchers(told, openWatcher(exchange, watching))
  return { turns: [model, ...others].map(toTurn), run: { admission, watcher, meter, onAllFailed } }
}

/** Spec: §4.3 priority. Choice: it orders the queue only for models served with priorities. */
function toPlace(
  { id: modelId, concurrentMax = null, capabilities }: ServedModel,
  keyId: string,
  body: AnyRequest,
  signal: AbortSignal,
): AdmissionRequest {
  const priority = capabilities.prioritySchedulingEnabled ? (body.priority ?? 0) : 0
  return { modelId, modelMax: concurrentMax, keyId, priority, signal }
}

interface WatchOptions extends Pick<CompletionRunOptions, 'recorder' | 'limits' | 'nowUs'> {
  readonly envelope: AnswerEnvelope | undefined
  /** The model that answers, once it is known. */
  readonly answering: () => ServedModel
}

/**
 * Returns the watcher of the deltas. It charges tokens to the key. With a project it also records the completion as
 * a call there, whose id is sent with the answer.
 *
 * Spec: §4.7 (project of a request).
 * Choice: the scope inference is enough: the server records, not the key, and usage must not depend on the
 * key's other rights.
 */
function openWatcher(
  { caller, call, model, projectId, setHeaders, recordAs }: CompletionExchange<AnyRequest>,
  { recorder, limits, nowUs, envelope, answering }: WatchOptions,
): AnswerWatcher {
  const isStream = call.request.stream === true
  const keepsOutput = projectId !== null && recordAs?.output === undefined
  const record = createAnswerRecord({ isStream, envelope, keepsOutput, now: nowUs })
  const recording =
    projectId === null
      ? null
      : recorder.begin({ projectId, caller, body: call.body, record, recordAs })
  if (recording !== null) setHeaders({ 'x-weft-call-id': recording.callId })
  return {
    note: record.note,
    end(error) {
      limits.charge(caller.keyId, record.tokenCount())
      recording?.end({
        error: error === null ? null : toApiError(error),
        model: answering().id,
        attributes: toAttributes(call, model, answering()),
      })
    },
  }
}

function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
}

function toAttributes(
  { request, requestId }: CompletionExchange<AnyRequest>['call'],
  asked: ServedModel,
  answering: ServedModel,
): JsonObject {
  return {
    model: answering.id,
    backend: answering.backend.kind,
    request_id: requestId,
    stream: request.stream === true,
    ...(answering === asked ? {} : { fallback_of: asked.id }),
    ...(request.user ? { user: request.user } : {}),
  }
}
