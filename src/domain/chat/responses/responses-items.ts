/** Builds the output items of a response from pieces, with their events. Pure. A text that is open is the last item. */
import { ApiError } from '../../../errors.ts'
import type { OutputItem, OutputPart } from './response-state.ts'
import { createOpenCalls, type Emit, type EndStatus, type OpenItem } from './responses-calls.ts'
import { toItemId } from './responses-record.ts'
import type { ResponseTools } from './responses-tools.ts'

/** Limit: characters of one response. */
const RESPONSE_CHARS_MAX = 16 * 1024 * 1024

export interface OutputItems {
  /** All items so far, in their order. */
  readonly items: readonly OutputItem[]
  /** Adds text to the part of its kind, which it begins where another one is open. */
  addText(type: OutputPart['type'], text: string, logprobs?: readonly unknown[]): void
  /** Adds a citation to the text that is open. @returns whether there was one */
  addCitation(citation: object): boolean
  /** Begins an item of a call. @param number - of the call in the chat */
  openCall(call: { name: string; id: unknown; number: number }): void
  /** Whether an item of the call was begun. */
  hasCall(number: number): boolean
  /** Adds to the arguments of a call. @throws ApiError upstream_invalid_response when they were complete */
  addArguments(number: number, text: string): void
  /** Ends the items that are open. */
  close(status: EndStatus): void
}

const TEXT_EVENTS = {
  output_text: 'response.output_text',
  refusal: 'response.refusal',
  reasoning_text: 'response.reasoning_text',
} as const

/** @param toCalledName - returns the name that the client knows of a function that is called */
export function createOutputItems(
  responseId: string,
  emit: Emit,
  toCalledName: ResponseTools['toCalledName'],
): OutputItems {
  const items: OutputItem[] = []
  const spend = createAllowance(RESPONSE_CHARS_MAX)
  const calls = createOpenCalls({ emit, spend, end })
  let openText: OpenItem | null = null

  function begin(item: OutputItem): OpenItem {
    closeText('completed')
    calls.closeComplete()
    const open = { item, output_index: items.length }
    items.push(item)
    emit('response.output_item.added', { ...open })
    return open
  }

  function end({ item, output_index }: OpenItem, status: EndStatus): void {
    item.status = status
    emit('response.output_item.done', { output_index, item })
  }

  function closeText(status: EndStatus): void {
    if (openText === null) return
    const part = openText.item.content?.at(-1)
    if (part !== undefined) endPart(openText, part, emit)
    end(openText, status)
    openText = null
  }

  function partFor(type: OutputPart['type']): { open: OpenItem; part: OutputPart } {
    const kind = type === 'reasoning_text' ? 'reasoning' : 'message'
    if (openText?.item.type !== kind) openText = begin(newTextItem(kind, responseId, items.length))
    const { content } = openText.item
    const last = content?.at(-1)
    if (last?.type === type) return { open: openText, part: last }
    if (last !== undefined) endPart(openText, last, emit)
    const part = newPart(type)
    content?.push(part)
    emit('response.content_part.added', { ...positionOf(openText), part })
    return { open: openText, part }
  }

  return {
    items,
    addText(type, text, logprobs = []) {
      spend(text)
      const { open, part } = partFor(type)
      if (type === 'refusal') part.refusal += text
      else part.text += text
      if (type === 'output_text') for (const one of logprobs) part.logprobs?.push(one)
      const more = type === 'output_text' ? { logprobs } : {}
      const told = { ...positionOf(open), delta: text, ...more }
      if (text !== '') emit(`${TEXT_EVENTS[type]}.delta`, told)
    },
    addCitation(citation) {
      const { annotations } = openText?.item.content?.at(-1) ?? {}
      if (openText === null || annotations === undefined) return false
      spend(JSON.stringify(citation))
      const told = { annotation: citation, annotation_index: annotations.length }
      annotations.push(citation)
      emit('response.output_text.annotation.added', { ...positionOf(openText), ...told })
      return true
    },
    openCall({ name, id, number }) {
      const itemId = toItemId('fc', responseId, items.length)
      const call_id = typeof id === 'string' && id !== '' ? id : `call_${itemId.slice(3)}`
      const own = { call_id, ...toCalledName(name), arguments: '' }
      const item = { type: 'function_call' as const, id: itemId, status: 'in_progress' as const }
      calls.open(number, begin({ ...item, ...own }))
    },
    hasCall: calls.has,
    addArguments: calls.add,
    close(status) {
      calls.close(status)
      closeText(status)
    },
  }
}

function createAllowance(charsMax: number) {
  let left = charsMax
  return (text: string): string => {
    left -= text.length
    if (left >= 0) return text
    throw new ApiError('upstream_invalid_response', { message: 'The answer is too large.' })
  }
}

function endPart(open: OpenItem, part: OutputPart, emit: Emit): void {
  const place = positionOf(open)
  const { type, text, refusal, logprobs } = part
  const said = type === 'refusal' ? { refusal } : { text }
  const more = type === 'output_text' ? { logprobs: logprobs ?? [] } : {}
  emit(`${TEXT_EVENTS[type]}.done`, { ...place, ...said, ...more })
  emit('response.content_part.done', { ...place, part })
}

/** The place of an item's last part. */
function positionOf({ item: { id, content }, output_index }: OpenItem) {
  return { item_id: id, output_index, content_index: (content?.length ?? 1) - 1 }
}

function newTextItem(kind: 'reasoning' | 'message', responseId: string, at: number): OutputItem {
  const id = toItemId(kind === 'message' ? 'msg' : 'rs', responseId, at)
  const own = kind === 'message' ? { role: 'assistant' } : { summary: [] }
  return { type: kind, id, status: 'in_progress', ...own, content: [] }
}

function newPart(type: OutputPart['type']): OutputPart {
  if (type === 'refusal') return { type, refusal: '' }
  if (type === 'reasoning_text') return { type, text: '' }
  return { type, text: '', annotations: [], logprobs: [] }
}
