/** Chats that the server asks for itself, for judges and evaluations: limited, recorded and priced like any other. */
import type { Principal } from '../../domain/access/permissions.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { parseObject } from '../../domain/json/json-values.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'
import type { ServedModel } from '../models/registry.ts'
import { spentOn } from './budgets/spending.ts'
import { type ChatExchange, type CompletionRunOptions, completeWhole } from './completion-run.ts'
import { resolveResponseEnvelope } from './whole-completion.ts'

export interface BackgroundOptions {
  readonly run: CompletionRunOptions
  readonly prices: Pick<PriceStore, 'listPrices'>
  /** Makes the ids of requests. */
  readonly newId: () => string
}

interface BackgroundRequest {
  /** Whose limits, budgets and models apply. */
  readonly caller: Principal
  /** In which the call is recorded, and whose prices apply. */
  readonly project_id: string
  readonly model: ServedModel
  readonly request: ChatCompletionRequest
  readonly recordAs: Omit<NonNullable<ChatExchange['recordAs']>, 'body'>
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

interface BackgroundCompletion {
  readonly response: Readonly<Record<string, unknown>>
  readonly usage: Readonly<Record<string, unknown>>
  /** The model that responded: the asked one or a fallback. */
  readonly answering: ServedModel
  /** Billionths of a dollar; 0 for `tiny` and for a model without a price. */
  readonly nanos: number
  /** Of the recorded call; null: none was recorded. */
  readonly call_id: string | null
}

/** @throws ApiError of the model, upstream_timeout after the time; the reason of the signal */
export async function completeInBackground(
  { caller, project_id, model, request, recordAs, timeoutMs, signal }: BackgroundRequest,
  { run, prices, newId }: BackgroundOptions,
): Promise<BackgroundCompletion> {
  const body = JSON.stringify(request)
  const requestId = newId()
  const headers = new Map<string, string | null>()
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const exchange: ChatExchange = {
    caller,
    call: { request, body, requestId },
    model,
    projectId: project_id,
    recordAs: { ...recordAs, body },
    signal: bounded,
    setHeaders: (set) => {
      for (const [name, value] of Object.entries(set)) headers.set(name, value)
    },
  }
  const names = {
    requestId,
    model: model.answersAs ?? request.model ?? model.id,
    nowMs: Date.now(),
  }
  const startedAtUs = run.nowUs()
  const envelope = resolveResponseEnvelope(request, names)
  const json = await completeWhole(exchange, run, envelope).catch((error) => {
    signal.throwIfAborted()
    if (!bounded.aborted) throw error
    throw new ApiError('upstream_timeout', { cause: error })
  })
  const response = parseObject(json) ?? {}
  const usage = isObject(response.usage) ? response.usage : {}
  const answering = findAnswering(headers.get('x-weft-backend') ?? null, model, run)
  const table = layerPrices(await prices.listPrices(project_id))
  const isFree = answering.backend.kind === 'tiny'
  const nanos = isFree ? 0 : spentOn(usage, answering, table, startedAtUs)
  return { response, usage, answering, nanos, call_id: headers.get('x-weft-call-id') ?? null }
}

/** @param header - the id of the model that responded, escaped, maybe with the number of its upstream */
function findAnswering(header: string | null, asked: ServedModel, run: CompletionRunOptions) {
  const id = header === null ? asked.id : decodeURI(header.replace(/#\d+$/, ''))
  return id === asked.id ? asked : (run.models.findModel(id) ?? asked)
}
