/**
 * Runs one completion: asks its model, then that model's fallbacks, each within admission, and records it when it
 * names a project. Headers tell who answers; the answer itself is sent by the route.
 */
import type { Principal } from '../../domain/access/permissions.ts'
import {
  findDroppedFields,
  findUnsupportedField,
  requireValidChatRequest,
} from '../../domain/chat/chat-rules.ts'
import { findUnknownFields } from '../../domain/chat/unknown-fields.ts'
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { CompletionCall, Delta } from '../backend.ts'
import { requireOffered } from '../models/offers.ts'
import type { ModelRegistry, ServedModel } from '../models/registry.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { AnswerEnvelope } from './answer-envelope.ts'
import { createAnswerRecord } from './answer-record.ts'
import {
  type AnswerRunOptions,
  type AnswerWatcher,
  answerWhole,
  type Candidate,
  streamAnswer,
} from './answer-run.ts'
import type { CompletionRecorder, RecordedAs } from './completion-recorder.ts'
import { type CompletionWatch, joinWatchers, openCompletionTold } from './completion-watch.ts'
import type { KeyLimits } from './key-limits.ts'
import type { ModelMeter } from './model-meter.ts'

export interface CompletionRunOptions {
  readonly models: ModelRegistry
  readonly admission: Admission
  readonly limits: KeyLimits
  readonly recorder: CompletionRecorder
  readonly meter: ModelMeter
  /** Told of every completion. */
  readonly watch: CompletionWatch
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
}

/** What all kinds of requests have that a model may be asked. */
export type AnyRequest = Pick<ChatCompletionRequest, 'stream' | 'priority' | 'user'>

/** How requests of one kind are asked. */
export interface RequestKind<R extends AnyRequest> {
  /** @throws ApiError for a request that the model cannot answer */
  requireAnswerable(request: R, model: ServedModel): void
  /** Starts the answer of a model. */
  start(
    model: ServedModel,
    call: Omit<CompletionCall, 'request'> & { readonly request: R },
    options: { readonly signal: AbortSignal },
  ): Pick<Candidate, 'start' | 'startWhole'>
  /** Headers that name who answers. @param upstream - its number from 1, or null */
  nameBackend(
    request: R,
    model: ServedModel,
    upstream: number | null,
  ): Readonly<Record<string, string | null>>
}

export interface CompletionExchange<R extends AnyRequest = ChatCompletionRequest> {
  readonly caller: Principal
  readonly call: Omit<CompletionCall, 'model' | 'request'> & { readonly request: R }
  readonly model: ServedModel
  /** Project that it is recorded in, or null. */
  readonly projectId: string | null
  /** How it is recorded. Default: as a chat. */
  readonly recordAs?: RecordedAs
  readonly signal: AbortSignal
  /** Sets headers of the answer, or takes them back (null); does nothing once they were sent. */
  readonly setHeaders: (headers: Readonly<Record<string, string | null>>) => void
}

/**
 * Lets a request pass that a model can answer.
 *
 * @throws ApiError capability_missing; of the rule that it breaks; unsupported_parameter naming the first field that the
 * model's backend rejects
 */
export function requireAnswerable(body: ChatCompletionRequest, model: ServedModel): void {
  requireOffered(model, 'chat')
  requireValidChatRequest(body, model.capabilities)
  const param = findUnsupportedField(body, model.backend.fields)
  if (param === null) return
  const message = `The model \`${model.id}\` does not support ${param}.`
  throw new ApiError('unsupported_parameter', { param, message })
}

/**
 * The deltas of a streamed completion; nothing goes to a backend before the first is asked for.
 *
 * @throws ApiError rate_limit_exceeded
 */
export function streamCompletion(
  exchange: CompletionExchange,
  options: CompletionRunOptions,
): AsyncIterable<Delta> {
  const { turns, run } = prepareRun(exchange, options, CHAT)
  return streamAnswer(turns, run)
}

/**
 * The JSON text of a completion that is not streamed.
 *
 * @throws ApiError rate_limit_exceeded at once; what broke the answer later
 */
export function completeWhole(
  exchange: CompletionExchange,
  options: CompletionRunOptions,
  envelope: AnswerEnvelope,
): Promise<string> {
  const { turns, run } = prepareRun(exchange, options, CHAT)
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

/** Counts the request to its key's limits, and opens its record where one is wanted. */
export function prepareRun<R extends AnyRequest>(
  exchange: CompletionExchange<R>,
  options: CompletionRunOptions,
  kind: RequestKind<R>,
): PreparedRun {
  const { caller, call, model, signal, setHeaders } = exchange
  const { models, admission, limits, meter } = options
  const { keyId } = caller
  setHeaders(limits.take(keyId))
  let answering = model
  const told = openCompletionTold(options.watch, models, call.request.stream === true)
  const watchUpstream = (candidate: ServedModel) => {
    const { asked, waited: onTried } = told.turnTo(candidate)
    const isOneOfMany = (candidate.upstreamCount ?? 1) > 1
    const onUpstream = (number: number) => {
      asked()
      if (isOneOfMany) setHeaders(kind.nameBackend(call.request, candidate, number))
    }
    return { onUpstream, onTried }
  }
  const toTurn = (candidate: ServedModel) => (): Candidate => {
    answering = candidate
    setHeaders(kind.nameBackend(call.request, candidate, null))
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
  const watcher =
    exchange.projectId === null && !limits.countsTokens
      ? told
      : joinWatchers(told, openWatcher(exchange, { ...options, answering: () => answering }))
  return { turns: [model, ...others].map(toTurn), run: { admission, watcher, meter } }
}

/** Spec: §4.3 priority. Choice: it orders the queue of models that are served with priorities. */
function toPlace(
  { id: modelId, concurrentMax = null, capabilities }: ServedModel,
  keyId: string,
  body: AnyRequest,
  signal: AbortSignal,
): AdmissionRequest {
  const priority = capabilities.prioritySchedulingEnabled ? (body.priority ?? 0) : 0
  return { modelId, modelMax: concurrentMax, keyId, priority, signal }
}

/** The fallbacks of a model that are still served and can answer the request. */
function listFallbacks(
  model: ServedModel,
  models: ModelRegistry,
  requireAnswerable: (model: ServedModel) => void,
): ServedModel[] {
  return model.fallbacks.flatMap((name) => {
    try {
      const candidate = models.getModel(name)
      requireAnswerable(candidate)
      return [candidate]
    } catch {
      return []
    }
  })
}

/**
 * The headers that tell which model answers, which of its upstreams where it has several, which fields of the
 * request its engine will not see, and which ones nothing knows.
 *
 * @param upstream - its number from 1, or null
 *
 * Spec: §4.3 (headers not shown). Choice: names of the models file, never an address.
 */
function nameBackend(
  body: ChatCompletionRequest,
  { id, backend, upstreamCount = 1 }: ServedModel,
  upstream: number | null,
): Readonly<Record<string, string | null>> {
  return {
    ...nameModel({ id, upstreamCount }, upstream),
    'x-weft-dropped-fields': nameFields(findDroppedFields(body, backend.fields)),
    'x-weft-ignored-fields': nameFields(backend.ignoresUnknown ? findUnknownFields(body) : []),
  }
}

/** The header that tells who answers. */
export function nameModel(
  { id, upstreamCount = 1 }: Pick<ServedModel, 'id' | 'upstreamCount'>,
  upstream: number | null,
) {
  const name = encodeURI(id)
  return { 'x-weft-backend': upstreamCount > 1 && upstream ? `${name}#${upstream}` : name }
}

/** A header is ASCII, and the names of a client may be anything. */
export function nameFields(names: readonly string[]): string | null {
  if (names.length === 0) return null
  return names.map((name) => encodeURIComponent(name.toWellFormed())).join(', ')
}

interface WatchOptions extends Pick<CompletionRunOptions, 'recorder' | 'limits' | 'nowUs'> {
  /** The model that answers, as far as that is known. */
  readonly answering: () => ServedModel
}

/**
 * The observers of the deltas. Tokens are charged to the key. With a project the completion becomes a call of
 * it, whose id is in the answer.
 *
 * Spec: §4.7 (project of a request).
 * Choice: the scope inference is enough: the server records, not the key, and usage must not depend on the
 * key's other rights.
 */
function openWatcher(
  { caller, call, model, projectId, setHeaders, recordAs }: CompletionExchange<AnyRequest>,
  { recorder, limits, nowUs, answering }: WatchOptions,
): AnswerWatcher {
  const isStream = call.request.stream === true
  const keepsOutput = projectId !== null && recordAs?.output === undefined
  const record = createAnswerRecord({ isStream, keepsOutput, now: nowUs })
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
