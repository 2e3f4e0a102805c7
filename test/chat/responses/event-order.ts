/** The documented order of the events of a response as a machine, and what they add up to. */

import type { ResponseEvent } from '../../../src/domain/chat/responses/responses-events.ts'
import type { TestResponse } from '../../support/build-test-app.ts'

type Json = TestResponse['body']

const ENDS = ['response.completed', 'response.incomplete', 'response.failed']

interface OpenItem {
  readonly type: string
  readonly id: string
  readonly name: unknown
  readonly parts: string[]
  partType: string | null
  text: string
  /** Of the part. */
  annotations: unknown[]
}

/** Whether an item may stay open while the next one begins: a call of which more may come. */
function mayStay({ type, text }: OpenItem): boolean {
  if (type !== 'function_call') return false
  try {
    return typeof JSON.parse(text) !== 'object'
  } catch {
    return true
  }
}

/**
 * Walks the events of one response.
 *
 * @returns the items as a reader of deltas has them
 * @throws Error at the first event that is out of order or disagrees with those before it
 */
export function walkEvents(events: readonly ResponseEvent[]): Json[] {
  const items: Json[] = []
  const open = new Map<number, OpenItem>()
  let begunCount = 0
  let isEnded = false
  for (const [at, event] of (events as readonly Json[]).entries()) {
    const require = (holds: boolean) => {
      if (!holds) throw new Error(`out of order: ${JSON.stringify(event)}`)
    }
    /** The open item that an event is about. */
    const find = (id: string): OpenItem => {
      const item = open.get(event.output_index)
      require(item !== undefined && item.id === id)
      return item as OpenItem
    }
    require(event.sequence_number === at && !isEnded)
    if (at < 2) {
      require(event.type === ['response.created', 'response.in_progress'][at])
      require(event.response.status === 'in_progress' && event.response.output.length === 0)
      continue
    }
    const name = String(event.type)
    if (ENDS.includes(name)) {
      require(open.size === 0)
      require(JSON.stringify(event.response.output) === JSON.stringify(items))
      isEnded = true
    } else if (name === 'response.output_item.added') {
      require([...open.values()].every(mayStay) && event.output_index === begunCount)
      require(event.item.status === 'in_progress')
      const { type, id, name } = event.item
      open.set(begunCount++, {
        type,
        id,
        name,
        parts: [],
        partType: null,
        text: '',
        annotations: [],
      })
    } else if (name === 'response.output_item.done') {
      const item = find(event.item.id)
      require(item.partType === null)
      if (item.type === 'function_call') require(event.item.arguments === item.text)
      else {
        const texts = event.item.content.map((part: Json) => part.text ?? part.refusal)
        require(JSON.stringify(texts) === JSON.stringify(item.parts))
      }
      items[event.output_index] = event.item
      open.delete(event.output_index)
    } else if (name === 'response.content_part.added') {
      const item = find(event.item_id)
      require(item.partType === null && event.content_index === item.parts.length)
      Object.assign(item, { partType: event.part.type, text: '', annotations: [] })
    } else if (name === 'response.content_part.done') {
      const item = find(event.item_id)
      require(item.partType !== null && (event.part.text ?? event.part.refusal) === item.text)
      const annotations = event.part.annotations ?? []
      require(JSON.stringify(annotations) === JSON.stringify(item.annotations))
      item.partType = null
      item.parts.push(item.text)
    } else if (name.endsWith('.delta')) {
      const item = find(event.item_id)
      const isCall = name === 'response.function_call_arguments.delta'
      require(isCall ? item.type === 'function_call' : name === `response.${item.partType}.delta`)
      item.text += event.delta
    } else if (name === 'response.output_text.annotation.added') {
      const item = find(event.item_id)
      require(item.partType === 'output_text' && event.content_index === item.parts.length)
      require(event.annotation_index === item.annotations.length)
      item.annotations.push(event.annotation)
    } else if (name.endsWith('.done')) {
      const item = find(event.item_id)
      require((event.text ?? event.refusal ?? event.arguments) === item.text)
      require(event.name === item.name)
    } else throw new Error(`unknown event ${name}`)
  }
  if (!isEnded) throw new Error('the response has no end')
  return items
}
