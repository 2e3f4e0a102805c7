/**
 * Builds the output items of a response from chunks, with their events. Pure. A text that is open is the last item; each
 * call stays open as long as its arguments are incomplete.
 */

import { ApiError } from '../../../errors.ts'
import type { DeltaSink } from '../message-deltas.ts'
import type { OutputItem, OutputPart } from './response-state.ts'
import { toItemId } from './responses-record.ts'
import type { ResponseTools } from './responses-tools.ts'

/** Emits an event of a type with its fields, as they are now. */
type Emit = (type: string, fields: Readonly<Record<string, unknown>>) => void

type EndStatus = 'completed' | 'incomplete'

interface OpenItem {
  readonly item: OutputItem
  readonly output_index: number
}

interface OpenCalls {
  /** Takes an item that was begun. @param number - of the call in the chat */
  open(number: number, open: OpenItem): void
  /** Whether an item of the call was begun. */
  has(number: number): boolean
  /** Adds to the arguments of a call. @throws ApiError upstream_invalid_response when they were complete */
  add(number: number, text: string): void
  /** Ends the call that got the last chunk, if its arguments are complete. */
  closeComplete(): void
  /** Ends all calls. */
  close(status: EndStatus): void
}

interface OpenCallsOptions {
  readonly emit: Emit
  /** Counts a text and returns it. @throws ApiError for one too many */
  readonly spend: (text: string) => string
  /** Ends an item. */
  readonly end: (open: OpenItem, status: EndStatus) => void
}

function createOpenCalls({ emit, spend, end }: OpenCallsOptions): OpenCalls {
  const begun = new Set<number>()
  const calls = new Map<number, OpenItem>()
  let latest = -1

  function close(number: number, status: EndStatus): void {
    const open = calls.get(number)
    if (open === undefined) return
    const { item, output_index } = open
    // Not all releases of the SDKs know the name, but some require it.
    const told = { item_id: item.id, output_index, name: item.name, arguments: item.arguments }
    emit('response.function_call_arguments.done', told)
    end(open, status)
    calls.delete(number)
  }

  return {
    open(number, open) {
      begun.add(number)
      calls.set(number, open)
      latest = number
    },
    has: (number) => begun.has(number),
    add(number, text) {
      const open = calls.get(number)
      // White space may follow the end of a JSON text.
      if (text === '' || (open === undefined && text.trim() === '')) return
      if (open === undefined) throw tooLate()
      const { item, output_index } = open
      item.arguments += spend(text)
      latest = number
      const place = { item_id: item.id, output_index }
      emit('response.function_call_arguments.delta', { ...place, delta: text })
    },
    closeComplete() {
      if (isComplete(calls.get(latest)?.item.arguments)) close(latest, 'completed')
    },
    close(status) {
      for (const number of calls.keys()) close(number, status)
    },
  }
}

/** Whether a text is a complete JSON object. */
function isComplete(text: string | undefined): boolean {
  if (!text?.trimEnd().endsWith('}')) return false
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

function tooLate(): ApiError {
  const message = 'The upstream added to the arguments of a tool call that were complete.'
  return new ApiError('upstream_invalid_response', { message })
}

/** Limit: characters of one response. */
const RESPONSE_CHARS_MAX = 16 * 1024 * 1024

interface OutputItems extends DeltaSink {
  /** All items so far, in their order. */
  readonly items: readonly OutputItem[]
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
