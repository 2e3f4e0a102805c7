/**
 * Events of a message, built from the chunks of a chat's completion. Pure. A whole completion is translated as one chunk,
 * so that there is one translation and not two.
 *
 * Order: message_start; for each block content_block_start, its deltas, content_block_stop; message_delta with the end
 * and the usage; message_stop. One block is open at a time: calls that a model writes side by side wait for their turn.
 */
import { ApiError } from '../../../errors.ts'
import { filledTextOrNull, objectOrEmpty } from '../../json/json-values.ts'
import { findUsage } from '../engine-dialects.ts'
import { createMessageDeltas, type DeltaSink } from '../message-deltas.ts'
import type { ThinkingDisplay } from './messages-request.ts'
import { toMessageUsage, toStopReason } from './messages-tables.ts'

export interface MessageEvent {
  readonly type: string
  readonly [name: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

export interface MessageHead {
  /** `msg_` and the id of the request. */
  readonly id: string
  readonly model: string
  readonly stopSequences: readonly string[]
  readonly thinking: ThinkingDisplay
}

interface MessageWriter {
  /**
   * The events of one chunk of a chat; the first call also begins the message.
   *
   * @throws ApiError upstream_invalid_response for what a message cannot hold
   */
  add(chunk: Fields): MessageEvent[]
  /** Ends the block that is open and the message. @throws as `add` */
  end(): MessageEvent[]
}

const NO_TOKENS = toMessageUsage({})

export function createMessageWriter(head: MessageHead): MessageWriter {
  let events: MessageEvent[] = []
  let isOpen = false
  let usage: Fields = NO_TOKENS
  let finish: { readonly finishReason: unknown; readonly stopReason: unknown } | null = null
  const emit = (type: string, fields: Fields = {}) => void events.push({ type, ...fields })
  const blocks = createBlocks(emit, head)
  const deltas = createMessageDeltas(blocks)

  function taken(): MessageEvent[] {
    const given = events
    events = []
    return given
  }

  function open(): void {
    if (isOpen) return
    isOpen = true
    const { id, model } = head
    const said = { content: [], stop_reason: null, stop_sequence: null }
    emit('message_start', {
      message: { id, type: 'message', role: 'assistant', model, ...said, usage },
    })
  }

  function addChoice(choice: Fields): void {
    if (choice.index !== undefined && choice.index !== 0) return
    const { reasoning, reasoning_content, reasoning_details, ...said } = objectOrEmpty(choice.delta)
    // Details repeat the reasoning, divided into blocks.
    if (!hasTexts(reasoning_details)) deltas.add({ reasoning, reasoning_content }, null)
    const details = Array.isArray(reasoning_details) ? reasoning_details : []
    if (head.thinking !== 'none') for (const one of details) blocks.addDetail(objectOrEmpty(one))
    deltas.add(said, null)
    const { finish_reason: finishReason, stop_reason: stopReason } = choice
    if (finishReason) finish = { finishReason, stopReason }
  }

  return {
    add(chunk) {
      const found = findUsage(chunk)
      if (found !== null) usage = toMessageUsage(found)
      open()
      const { choices } = chunk
      for (const choice of Array.isArray(choices) ? choices : []) addChoice(objectOrEmpty(choice))
      return taken()
    },
    end() {
      open()
      deltas.requireNamed()
      blocks.close()
      const { finishReason = null, stopReason = null } = finish ?? {}
      const { stopSequences } = head
      const delta = toStopReason({
        finishReason,
        stopReason,
        stopSequences,
        hasCalls: blocks.hasCalls(),
      })
      emit('message_delta', { delta, usage })
      emit('message_stop')
      return taken()
    },
  }
}

function hasTexts(details: unknown): boolean {
  return Array.isArray(details) && details.some((one) => filledTextOrNull(objectOrEmpty(one).text))
}

interface Blocks extends DeltaSink {
  /** Adds the text and the signature of one of `reasoning_details`. */
  addDetail(detail: Fields): void
  hasCalls(): boolean
  /** Ends the block that is open, and writes the calls that wait. */
  close(): void
}

/** A call that was begun. */
interface WaitingCall {
  readonly number: number
  readonly id: string
  readonly name: string
  arguments: string
}

type TextBlock = 'text' | 'thinking'

type Emit = (type: string, fields?: Fields) => void

/** Numbers the blocks. */
function createBlockEvents(emit: Emit) {
  let index = -1
  return {
    start(content_block: Fields): void {
      index += 1
      emit('content_block_start', { index, content_block })
    },
    delta: (delta: Fields) => emit('content_block_delta', { index, delta }),
    stop: () => emit('content_block_stop', { index }),
  }
}

/** @param emit - called with each event */
function createBlocks(emit: Emit, head: MessageHead): Blocks {
  const { delta: emitDelta, ...events } = createBlockEvents(emit)
  let open: TextBlock | WaitingCall | null = null
  /** Calls behind the one that is open, in their order. */
  let waiting: WaitingCall[] = []
  const begun = new Set<number>()
  /** Text of the thinking that is open. */
  let thought = ''

  function stop(): void {
    if (open !== null) events.stop()
    open = null
  }

  function start(next: TextBlock | WaitingCall, content_block: Fields): void {
    stop()
    open = next
    events.start(content_block)
  }

  function startCall(call: WaitingCall): void {
    start(call, { type: 'tool_use', id: call.id, name: call.name, input: {} })
    if (call.arguments !== '') emitDelta({ type: 'input_json_delta', partial_json: call.arguments })
  }

  /** Writes the calls that wait; nothing may follow a call that is still open then. */
  function closeCalls(): void {
    for (const call of waiting) startCall(call)
    waiting = []
    if (open !== null && typeof open === 'object') stop()
  }

  function openThinking(): void {
    if (open === 'thinking') return
    start('thinking', { type: 'thinking', thinking: '', signature: '' })
    thought = ''
  }

  function addThinking(text: string): void {
    if (head.thinking !== 'shown') return
    closeCalls()
    openThinking()
    thought += text
    emitDelta({ type: 'thinking_delta', thinking: text })
  }

  /** A signature ends the thinking that it belongs to, whose text may be left out. */
  function addSignature(signature: string): void {
    closeCalls()
    openThinking()
    emitDelta({ type: 'signature_delta', signature })
    stop()
  }

  function addDetail({ text, signature, data, type }: Fields): void {
    const signed = filledTextOrNull(signature)
    const told = filledTextOrNull(text)
    // Some streams repeat the whole text with its signature.
    const isRepeated = signed !== null && open === 'thinking' && thought === told
    if (told !== null && !isRepeated) addThinking(told)
    if (signed !== null) addSignature(signed)
    if (type !== 'reasoning.encrypted' || !filledTextOrNull(data)) return
    closeCalls()
    start('text', { type: 'redacted_thinking', data })
    stop()
  }

  return {
    addText(kind, text) {
      if (kind === 'reasoning_text') return addThinking(text)
      closeCalls()
      if (open !== 'text') start('text', { type: 'text', text: '' })
      emitDelta({ type: 'text_delta', text })
    },
    // Messages cite only documents of the request and searches of the vendor.
    addCitation: () => true,
    addDetail,
    hasCall: (number) => begun.has(number),
    openCall({ name, id, number }) {
      begun.add(number)
      const own = `toolu_${head.id.replace(/^msg_/, '')}_${number}`
      const call = { number, name, id: filledTextOrNull(id) ?? own, arguments: '' }
      if (open !== null && typeof open === 'object') waiting.push(call)
      else startCall(call)
    },
    addArguments(number, text) {
      if (text === '') return
      const isCurrent = open !== null && typeof open === 'object' && open.number === number
      const call = isCurrent ? null : waiting.find((one) => one.number === number)
      if (isCurrent) emitDelta({ type: 'input_json_delta', partial_json: text })
      else if (call) call.arguments += text
      // White space may follow the end of a JSON text.
      else if (text.trim() !== '') throw tooLate()
    },
    hasCalls: () => begun.size > 0,
    close() {
      closeCalls()
      stop()
    },
  }
}

function tooLate(): ApiError {
  const message = 'The upstream added to the arguments of a tool call that were complete.'
  return new ApiError('upstream_invalid_response', { message })
}
