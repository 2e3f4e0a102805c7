/** The documented order of the events of a response as a machine, and what they add up to. */

import type { ResponseEvent } from '../../../src/domain/chat/responses-events.ts'
import type { TestResponse } from '../../support/build-test-app.ts'

type Json = TestResponse['body']

const ENDS = ['response.completed', 'response.incomplete', 'response.failed']

/**
 * Walks the events of one response.
 *
 * @returns the items as a reader of deltas has them
 * @throws Error at the first event that is out of order or disagrees with those before it
 */
export function walkEvents(events: readonly ResponseEvent[]): Json[] {
  const items: Json[] = []
  let open: { type: string; id: string; parts: string[]; partType: string; text: string } | null =
    null
  let partIsOpen = false
  let isEnded = false
  const require = (holds: boolean, event: Json) => {
    if (!holds) throw new Error(`out of order: ${JSON.stringify(event)}`)
  }
  for (const [at, event] of (events as readonly Json[]).entries()) {
    require(event.sequence_number === at && !isEnded, event)
    if (at < 2) {
      require(event.type === ['response.created', 'response.in_progress'][at], event)
      require(event.response.status === 'in_progress' && event.response.output.length === 0, event)
      continue
    }
    const isOfOpen = open !== null && event.item_id === open.id
    if (event.item_id !== undefined) require(isOfOpen && event.output_index === items.length, event)
    const name = String(event.type)
    if (ENDS.includes(name)) {
      require(open === null, event)
      require(JSON.stringify(event.response.output) === JSON.stringify(items), event)
      isEnded = true
    } else if (name === 'response.output_item.added') {
      require(open === null && event.output_index === items.length, event)
      require(event.item.status === 'in_progress', event)
      open = { type: event.item.type, id: event.item.id, parts: [], partType: '', text: '' }
    } else if (name === 'response.output_item.done') {
      require(open !== null && !partIsOpen && event.item.id === open.id, event)
      if (open?.type === 'function_call') require(event.item.arguments === open.text, event)
      else {
        const texts = event.item.content.map((part: Json) => part.text ?? part.refusal)
        require(JSON.stringify(texts) === JSON.stringify(open?.parts), event)
      }
      items.push(event.item)
      open = null
    } else if (name === 'response.content_part.added') {
      require(!partIsOpen && event.content_index === open?.parts.length, event)
      partIsOpen = true
      if (open) Object.assign(open, { partType: event.part.type, text: '' })
    } else if (name === 'response.content_part.done') {
      require(partIsOpen && (event.part.text ?? event.part.refusal) === open?.text, event)
      partIsOpen = false
      open?.parts.push(open.text)
    } else if (name.endsWith('.delta')) {
      const isCall = name === 'response.function_call_arguments.delta'
      require(isCall ? open?.type === 'function_call' : partIsOpen, event)
      if (!isCall) require(name === `response.${open?.partType}.delta`, event)
      if (open) open.text += event.delta
    } else if (name.endsWith('.done')) {
      require((event.text ?? event.refusal ?? event.arguments) === open?.text, event)
    } else throw new Error(`unknown event ${name}`)
  }
  if (!isEnded) throw new Error('the response has no end')
  return items
}
