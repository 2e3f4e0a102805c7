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
    const delta = objectOrEmpty(choice.delta)
    deltas.add(delta, null)
    blocks.addDetails(delta.reasoning_details)
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

interface Blocks extends DeltaSink {
  /** Adds the signatures in `reasoning_details`; ignores what is no list. */
  addDetails(details: unknown): void
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

/** @param emit - called with each event */
function createBlocks(emit: (type: string, fields?: Fields) => void, head: MessageHead): Blocks {
  let index = -1
  let open: TextBlock | WaitingCall | null = null
  /** Calls behind the one that is open, in their order. */
  let waiting: WaitingCall[] = []
  const begun = new Set<number>()

  const emitDelta = (delta: Fields) => emit('content_block_delta', { index, delta })

  function stop(): void {
    if (open !== null) emit('content_block_stop', { index })
    open = null
  }

  function start(next: TextBlock | WaitingCall, content_block: Fields): void {
    stop()
    index += 1
    open = next
    emit('content_block_start', { index, content_block })
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

  function addThinking(text: string): void {
    if (head.thinking !== 'shown') return
    closeCalls()
    if (open !== 'thinking') start('thinking', { type: 'thinking', thinking: '', signature: '' })
    emitDelta({ type: 'thinking_delta', thinking: text })
  }

  /** A signature ends the thinking that it belongs to, whose text may be left out. */
  function addSignature(signature: string): void {
    closeCalls()
    if (open !== 'thinking') start('thinking', { type: 'thinking', thinking: '', signature: '' })
    emitDelta({ type: 'signature_delta', signature })
    stop()
  }

  function addDetail({ signature, data, type }: Fields): void {
    const signed = filledTextOrNull(signature)
    if (signed !== null) addSignature(signed)
    const sealed = type === 'reasoning.encrypted' ? filledTextOrNull(data) : null
    if (sealed === null) return
    closeCalls()
    start('text', { type: 'redacted_thinking', data: sealed })
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
    addDetails(details) {
      if (head.thinking === 'none' || !Array.isArray(details)) return
      for (const detail of details) addDetail(objectOrEmpty(detail))
    },
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
