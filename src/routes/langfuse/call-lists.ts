/** Reads the calls of a list of Langfuse's API, with their costs, as many as fit into memory. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { CallTexts } from '../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { parseCall } from '../../domain/calls/evaluations/evaluation-calls.ts'
import type { CallsCondition } from '../../domain/langfuse/call-conditions.ts'
import type { PricedObservation } from '../../domain/langfuse/observations.ts'
import { renderCallCosts } from '../../domain/prices/cost.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import type { Stores } from '../../store/api/stores.ts'

/** Limit: characters of the bodies of one response. */
const BODY_CHARS_MAX = 32 * 1024 * 1024
/** Limit: calls that are counted for the number of pages. */
const COUNTED_MAX = 100_000

interface ListPart {
  /** The columns that are read besides the ids and the start; of bodies, only those that are named. */
  readonly columns: readonly string[]
  readonly sort_by: NonNullable<CallsQueryRequest['sort_by']>
  readonly limit: number
  readonly offset: number
}

interface CallList {
  readonly calls: readonly PricedObservation[]
  /** Whether the list ended early, since the bodies are large. */
  readonly isCut: boolean
}

export const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' as const }]

export function createCallLists(
  { callsQuery, prices }: Pick<Stores, 'callsQuery' | 'prices'>,
  caller: ReadCaller,
) {
  const { project_id } = caller

  /** Yields the calls of a list, of which the caller keeps what it needs. */
  async function* scan(condition: CallsCondition, part: ListPart): AsyncGenerator<CallTexts> {
    const { columns, ...selected } = part
    const request = { project_id, ...condition, ...selected, columns: ['id', ...columns] }
    const selection = resolveCallsSelection(request)
    for await (const page of callsQuery.pages(selection, resolveCallsShape(request), caller)) {
      for (const { call } of page) yield call
    }
  }

  /** A list that ends early when its bodies are large; it has one call at least, if there is one. */
  async function cutList(condition: CallsCondition, part: ListPart): Promise<CallList> {
    const priceTable = layerPrices(await prices.listPrices(project_id))
    const calls: PricedObservation[] = []
    let chars = 0
    for await (const texts of scan(condition, part)) {
      chars += bodyChars(texts)
      if (chars > BODY_CHARS_MAX && calls.length > 0) return { calls, isCut: true }
      const call = parseCall(texts)
      calls.push({ call, costs: renderCallCosts(call, priceTable) })
    }
    return { calls, isCut: false }
  }

  return {
    scan,
    cutList,

    /** @param param - what the caller may lower. @throws ApiError validation_failed when the bodies are too large */
    async wholeList(condition: CallsCondition, part: ListPart, param: string) {
      const { calls, isCut } = await cutList(condition, part)
      if (!isCut) return calls
      const message = `The response would have more than ${BODY_CHARS_MAX} characters: read fewer, or with /v2/observations.`
      throw new ApiError('validation_failed', { param, message })
    },

    /** How many calls meet a condition, of which those beyond a limit are not counted. */
    async count({ filter, query }: CallsCondition): Promise<number> {
      const request = { project_id, filter, query, limit: COUNTED_MAX }
      return (await callsQuery.count(resolveCallsSelection(request), caller)).count
    },
  }
}

export type CallLists = ReturnType<typeof createCallLists>

function bodyChars(call: CallTexts): number {
  const { attributes_json, inputs_json, output_json, summary_json, otel_dump_json } = call
  const texts = [attributes_json, inputs_json, output_json, summary_json, otel_dump_json]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
