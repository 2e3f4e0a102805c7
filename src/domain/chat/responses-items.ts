/** Builds the output items of a response from pieces, with their events. Pure. One item is open at a time. */
import { ApiError } from '../../errors.ts'
import type { OutputItem, OutputPart } from './responses-answer.ts'
import { toItemId } from './responses-record.ts'

/** Limit: characters of one response. */
const RESPONSE_CHARS_MAX = 16 * 1024 * 1024

/** Tells an event of a type with its fields, as they are now. */
type Emit = (type: string, fields: Readonly<Record<string, unknown>>) => void

export interface OutputItems {
  /** All items so far, in their order. */
  readonly items: readonly OutputItem[]
  /** Adds text to the part of its kind, which it begins where another one is open. */
  addText(type: OutputPart['type'], text: string, logprobs?: readonly unknown[]): void
  /** Begins an item of a call. @param index - of the call in the chat */
  openCall(call: { name: string; id: unknown; index: number }): void
  /** Index of the call that is open; null when no call is. */
  openCallIndex(): number | null
  /** Whether a call was open once and is no more. */
  isClosed(callIndex: number): boolean
  /** Adds to the arguments of the call that is open. */
  addArguments(text: string): void
  /** Ends the item that is open, if one is. */
  close(status: 'completed' | 'incomplete'): void
}

interface OpenItem {
  readonly item: OutputItem
  /** Null for an item that is no call. */
  readonly callIndex: number | null
}

const TEXT_EVENTS = {
  output_text: 'response.output_text',
  refusal: 'response.refusal',
  reasoning_text: 'response.reasoning_text',
} as const

export function createOutputItems(responseId: string, emit: Emit): OutputItems {
  const items: OutputItem[] = []
  const closedCalls = new Set<number>()
  const spend = createAllowance(RESPONSE_CHARS_MAX)
  let open: OpenItem | null = null

  const output_index = () => items.length - 1

  function begin(item: OutputItem, callIndex: number | null): OutputItem {
    close('completed')
    open = { item, callIndex }
    items.push(item)
    emit('response.output_item.added', { output_index: output_index(), item })
    return item
  }

  function partFor(type: OutputPart['type']): { item: OutputItem; part: OutputPart } {
    const kind = type === 'reasoning_text' ? 'reasoning' : 'message'
    const isOpen = open?.item.type === kind
    const item =
      open && isOpen ? open.item : begin(newTextItem(kind, responseId, items.length), null)
    const last = item.content?.at(-1)
    if (last?.type === type) return { item, part: last }
    if (last !== undefined) endPart(item, last, output_index(), emit)
    const part = newPart(type)
    item.content?.push(part)
    emit('response.content_part.added', { ...placeOf(item, output_index()), part })
    return { item, part }
  }

  function close(status: 'completed' | 'incomplete'): void {
    if (open === null) return
    const { item, callIndex } = open
    const part = item.content?.at(-1)
    if (part !== undefined) endPart(item, part, output_index(), emit)
    if (callIndex !== null) {
      closedCalls.add(callIndex)
      const told = { item_id: item.id, output_index: output_index(), arguments: item.arguments }
      emit('response.function_call_arguments.done', told)
    }
    item.status = status
    emit('response.output_item.done', { output_index: output_index(), item })
    open = null
  }

  return {
    items,
    addText(type, text, logprobs = []) {
      spend(text)
      const { item, part } = partFor(type)
      if (type === 'refusal') part.refusal += text
      else part.text += text
      if (type === 'output_text') part.logprobs?.push(...logprobs)
      const more = type === 'output_text' ? { logprobs } : {}
      const told = { ...placeOf(item, output_index()), delta: text, ...more }
      if (text !== '') emit(`${TEXT_EVENTS[type]}.delta`, told)
    },
    openCall({ name, id, index }) {
      const itemId = toItemId('fc', responseId, items.length)
      const call_id = typeof id === 'string' && id !== '' ? id : `call_${itemId.slice(3)}`
      const own = { call_id, name, arguments: '' }
      begin({ type: 'function_call', id: itemId, status: 'in_progress', ...own }, index)
    },
    openCallIndex: () => open?.callIndex ?? null,
    isClosed: (callIndex) => closedCalls.has(callIndex),
    addArguments(text) {
      if (open === null || text === '') return
      const { item } = open
      item.arguments += spend(text)
      const place = { item_id: item.id, output_index: output_index() }
      emit('response.function_call_arguments.delta', { ...place, delta: text })
    },
    close,
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

function endPart(item: OutputItem, part: OutputPart, output_index: number, emit: Emit): void {
  const place = placeOf(item, output_index)
  const { type, text, refusal, logprobs } = part
  const said = type === 'refusal' ? { refusal } : { text }
  const more = type === 'output_text' ? { logprobs: logprobs ?? [] } : {}
  emit(`${TEXT_EVENTS[type]}.done`, { ...place, ...said, ...more })
  emit('response.content_part.done', { ...place, part })
}

/** The place of an item's last part. */
function placeOf({ id, content }: OutputItem, output_index: number) {
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
