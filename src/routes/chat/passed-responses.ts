/** Passes responses through from engines that produce them, under ids of this server, and stores them like all others. */
import type { ResponseHead } from '../../domain/chat/responses/response-state.ts'
import type { IndexedItem } from '../../domain/chat/responses/responses-input.ts'
import { splitItems, splitMembers } from '../../domain/json/json-members.ts'
import { ApiError } from '../../errors.ts'
import type { CompletionRunOptions } from '../../inference/chat/completion-run.ts'
import {
  createPassedResponse,
  type PassedEvent,
  type ReferencedItem,
  renderPassedRequest,
} from '../../inference/chat/passed-response.ts'
import { type ServiceExchange, serveStream, serveWhole } from '../../inference/chat/service-run.ts'
import { listOffers } from '../../inference/models/offers.ts'
import type { ServedModel } from '../../inference/models/registry.ts'
import type { InputItem } from '../../schemas/chat/responses/responses-input.ts'
import { ResponseCreateRequest } from '../../schemas/chat/responses/responses-request.ts'
import { type ResponseMaker, renderTyped } from './response-run.ts'

export const RESPONSES_KIND = { service: 'responses', shape: ResponseCreateRequest.shape } as const

/** Whether the engine of a model produces responses itself; otherwise they are produced from chats. */
export function makesResponses(model: ServedModel): boolean {
  return listOffers(model).includes('responses')
}

/** The previous items and the new input of a response. */
interface PassedInput {
  readonly body: ResponseCreateRequest
  /** The JSON text as received. */
  readonly bodyText: string
  readonly context: readonly IndexedItem[]
  /** Its own items, with references resolved. */
  readonly input: readonly InputItem[]
}

/** The JSON text for the engine. */
export function renderEngineRequest({ body, bodyText, context, input }: PassedInput): string {
  if (!Array.isArray(body.input) && context.length === 0) return renderPassedRequest(bodyText, null)
  const texts = Array.isArray(body.input)
    ? splitItems(splitMembers(bodyText).get('input') ?? '')
    : []
  const own = input.map((item, index): ReferencedItem => {
    const sent = Array.isArray(body.input) ? body.input[index] : undefined
    if (sent === undefined) return { item: { role: 'user', content: body.input as string } }
    // The client's texts are passed on unchanged; only references are replaced by what they name.
    return sent.type === 'item_reference' ? { item } : { item: sent, json: texts[index] }
  })
  return renderPassedRequest(bodyText, [...context, ...own])
}

export function createPassedMaker(
  exchange: ServiceExchange,
  run: CompletionRunOptions,
  head: ResponseHead,
): ResponseMaker {
  const passed = createPassedResponse(head)
  let last: PassedEvent | null = null
  const render = ({ type, json }: PassedEvent) => renderTyped(type, json)
  return {
    async whole() {
      passed.whole(await serveWhole(exchange, run))
    },
    async *events() {
      for await (const texts of serveStream(exchange, run)) {
        const events = texts.map(passed.event)
        last = events.find(({ isLast }) => isLast) ?? last
        yield events.filter(({ isLast }) => !isLast).map(render)
      }
    },
    open: () => passed.open().map(render),
    end() {
      if (last === null) throw new ApiError('upstream_invalid_response')
      return [render(last)]
    },
    fail: (error) => [render(passed.fail(error))],
    response: passed.response,
    json: passed.json,
  }
}
