/**
 * Events of a response, built from the chunks of a chat's completion in the documented order. Pure. A whole completion is
 * translated as one chunk, so that there is one translation and not two.
 *
 * Order: response.created, response.in_progress; for each item output_item.added, its parts and deltas,
 * output_item.done; at last one of response.completed, response.incomplete, response.failed. An item ends before the
 * next one begins, but for calls whose arguments are still incomplete then: more chunks of them may come.
 */

import { objectOrEmpty } from '../../json/json-values.ts'
import { findUsage } from '../engine-dialects.ts'
import { createMessageDeltas } from '../message-deltas.ts'
import {
  type ResponseBody,
  type ResponseHead,
  type ResponseState,
  renderResponse,
} from './response-state.ts'
import { createOutputItems } from './responses-items.ts'
import type { ResponseTools } from './responses-tools.ts'

export interface ResponseEvent {
  readonly type: string
  /** Number of the event, from 0. */
  readonly sequence_number: number
  readonly [name: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

export interface ResponseWriter {
  /** The first events; called once, before all else. */
  open(): ResponseEvent[]
  /**
   * The events of one chunk of a chat.
   *
   * @throws ApiError upstream_invalid_response for what a response cannot hold, or too much text
   */
  add(chunk: Fields): ResponseEvent[]
  /** Closes open items; the state is then final. @param completedAt - seconds since the epoch */
  end(completedAt: number): ResponseEvent[]
  /** Closes open items after a failure or a cancellation. */
  fail(error: { readonly code: string; readonly message: string } | 'cancelled'): ResponseEvent[]
  /** The current response. */
  response(): ResponseBody
}

/** @param tools - which name the called functions. Default: as the chat does */
export function createResponseWriter(
  head: ResponseHead,
  { toCalledName }: Pick<ResponseTools, 'toCalledName'> = { toCalledName: (name) => ({ name }) },
): ResponseWriter {
  let events: ResponseEvent[] = []
  let sequence = 0
  let finishReason: unknown = null

  function emit(type: string, fields: Fields): void {
    // Items change later: the event has a copy of their current state.
    events.push({ type, sequence_number: sequence++, ...structuredClone(fields) })
  }

  function taken(): ResponseEvent[] {
    const given = events
    events = []
    return given
  }

  const output = createOutputItems(head.id, emit, toCalledName)
  const pieces = createMessageDeltas(output)
  let state: ResponseState = { status: 'in_progress', output: output.items }

  function addChoice(choice: Fields): void {
    if (choice.index !== undefined && choice.index !== 0) return
    pieces.add(objectOrEmpty(choice.delta), objectOrEmpty(choice.logprobs).content)
    finishReason = choice.finish_reason || finishReason
  }

  return {
    open() {
      const response = renderResponse(head, state)
      emit('response.created', { response })
      emit('response.in_progress', { response })
      return taken()
    },
    add(chunk) {
      const { choices, service_tier: serviceTier } = chunk
      for (const choice of Array.isArray(choices) ? choices : []) addChoice(objectOrEmpty(choice))
      const usage = findUsage(chunk)
      if (usage !== null) state = { ...state, usage }
      if (typeof serviceTier === 'string') state = { ...state, serviceTier }
      return taken()
    },
    end(completedAt) {
      pieces.requireNamed()
      const reason = INCOMPLETE_REASONS.get(finishReason)
      const status = reason === undefined ? 'completed' : 'incomplete'
      // A model that said nothing still answered.
      if (output.items.length === 0) output.addText('output_text', '')
      output.close(status)
      const why = reason === undefined ? {} : { incompleteReason: reason }
      state = { ...state, status, completedAt, ...why }
      emit(`response.${status}`, { response: renderResponse(head, state) })
      return taken()
    },
    fail(error) {
      const isCancelled = error === 'cancelled'
      output.close('incomplete')
      state = { ...state, ...(isCancelled ? { status: error } : { status: 'failed', error }) }
      const response = renderResponse(head, state)
      emit(isCancelled ? 'response.incomplete' : 'response.failed', { response })
      return taken()
    },
    response: () => renderResponse(head, state),
  }
}

const INCOMPLETE_REASONS: ReadonlyMap<unknown, 'max_output_tokens' | 'content_filter'> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])
