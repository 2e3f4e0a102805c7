/** Finds completions that a provider's content filter ended, before any part of them is passed on. */
import { isObject } from '../../domain/json/is-object.ts'
import { ApiError } from '../../errors.ts'
import type { Delta } from '../backend.ts'

/** Limit: deltas of a stream that are held; with more, it passes as it is. */
const HELD_MAX = 64

/** Events of Anthropic's and OpenAI's streams that precede the text. */
const SILENT_TYPES: ReadonlySet<unknown> = new Set([
  'ping',
  'message_start',
  'content_block_start',
  'content_block_stop',
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
])

type Fields = Readonly<Record<string, unknown>>

/** The cause of an error for a response that the upstream has made, and charges for. */
class FilteredResponse extends Error {
  constructor() {
    super('the content filter ended the response')
    this.name = 'FilteredResponse'
  }
}

/** Whether a response was made and then withheld by the gate. */
export function isFilteredResponse(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof FilteredResponse
}

/**
 * Yields the same deltas. The first ones of a stream are held until one has a part of the response; a whole response is
 * one delta.
 *
 * @throws ApiError content_filter, before anything was yielded; what the deltas throw
 */
export async function* gateFiltered(deltas: AsyncIterable<Delta>): AsyncGenerator<Delta> {
  const held: Delta[] = []
  let isOpen = false
  for await (const delta of deltas) {
    if (isOpen) {
      yield delta
      continue
    }
    if (listValues(delta).some(isFiltered)) {
      throw new ApiError('content_filter', { cause: new FilteredResponse() })
    }
    held.push(delta)
    isOpen = held.length > HELD_MAX || !isSilent(delta)
    if (isOpen) yield* held.splice(0)
  }
  yield* held
}

function listValues(delta: Delta): Fields[] {
  return delta.type === 'relayed' ? delta.texts.map(({ value }) => value) : []
}

/** Whether a body or event says so, of a completion, a message or a response. */
function isFiltered(value: Fields): boolean {
  const { choices, delta, response } = value
  if (Array.isArray(choices)) {
    return choices.length > 0 && choices.every((choice) => finishOf(choice) === 'content_filter')
  }
  const message = isObject(delta) ? delta : value
  if (message.stop_reason === 'refusal') return true
  const { incomplete_details } = isObject(response) ? response : value
  return isObject(incomplete_details) && incomplete_details.reason === 'content_filter'
}

function finishOf(choice: unknown): unknown {
  return isObject(choice) ? choice.finish_reason : null
}

function isSilent(delta: Delta): boolean {
  if (delta.type === 'prompt') return true
  return delta.type === 'relayed' && listValues(delta).every(isSilentValue)
}

function isSilentValue({ type, choices }: Fields): boolean {
  if (!Array.isArray(choices)) return SILENT_TYPES.has(type)
  return choices.every((choice) => {
    if (!isObject(choice) || choice.message || choice.text || choice.finish_reason) return false
    const { role: _, ...parts } = isObject(choice.delta) ? choice.delta : {}
    return Object.values(parts).every((part) => !part || (Array.isArray(part) && part.length === 0))
  })
}
