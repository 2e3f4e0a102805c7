/** Converts messages of Anthropic's Messages API, whole or as events, to completions and chunks of a chat. Pure. */
import { isObject } from '../../json/is-object.ts'
import { parseLossless, renderJson } from '../../json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrEmpty } from '../../json/json-values.ts'
import { mergeMessageUsage, toChatUsage, toFinishReason } from './messages-tables.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the completion that a message amounts to.
 *
 * @param json - text of the message
 * @param created - seconds since the epoch
 *
 * Spec: §4.3 response, message.
 * Choice: thinking is in `reasoning` and `reasoning_content`, and with its signature in `reasoning_details` and
 * `thinking_blocks`, of which clients return one to go on. Blocks of tools that the vendor runs are left out.
 */
export function toCompletion(json: string, created: number): Fields {
  const { id, model, content, stop_reason, stop_sequence, usage } = objectOrEmpty(
    parseLossless(json),
  )
  const blocks = Array.isArray(content) ? content.map(objectOrEmpty) : []
  const ofType = (type: string) => blocks.filter((block) => block.type === type)
  const calls = ofType('tool_use').map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: renderJson(input ?? {}) },
  }))
  const texts = ofType('text').map(({ text }) => textOrEmpty(text))
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: null,
    ...renderThoughts(blocks),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
  const stop = stop_sequence ? { stop_reason: stop_sequence } : {}
  const choice = {
    index: 0,
    message,
    logprobs: null,
    finish_reason: toFinishReason(stop_reason),
    ...stop,
  }
  const head = { id, object: 'chat.completion', created, model }
  return { ...head, choices: [choice], usage: toChatUsage(objectOrEmpty(usage)) }
}

function renderThoughts(blocks: readonly Fields[]): Fields {
  const thoughts = blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
  if (thoughts.length === 0) return {}
  const reasoning = thoughts.map(({ thinking }) => textOrEmpty(thinking)).join('')
  const texts = reasoning === '' ? {} : { reasoning, reasoning_content: reasoning }
  return { ...texts, reasoning_details: thoughts.map(toDetail), thinking_blocks: thoughts }
}

function toDetail({ type, thinking, signature, data }: Fields): Fields {
  return type === 'redacted_thinking'
    ? { type: 'reasoning.encrypted', data }
    : { type: 'reasoning.text', text: thinking, signature }
}

/** A chunk, and whether it only carries the usage. */
interface TranslatedChunk {
  readonly chunk: Fields
  readonly isUsage: boolean
}

interface ChunkTranslation {
  /** Returns the chunks of the next event. */
  add(event: Fields): TranslatedChunk[]
}

/** The block that is open: thinking until it is signed, or a call. */
interface OpenBlock {
  readonly type: unknown
  readonly call: number
  thinking: string
  signature: string
  hasInput: boolean
}

/** @param created - seconds since the epoch */
export function createChunkTranslation(created: number): ChunkTranslation {
  let head: Fields = {}
  let usage: Fields = {}
  let callCount = 0
  const open = new Map<unknown, OpenBlock>()

  function chunk(choices: readonly Fields[], more: Fields = {}): TranslatedChunk {
    const { id, model } = head
    const own = { id, object: 'chat.completion.chunk', created, model, choices, ...more }
    return { chunk: own, isUsage: choices.length === 0 }
  }
  const say = (delta: Fields, more: Fields = {}) => [
    chunk([{ index: 0, delta, logprobs: null, finish_reason: null, ...more }]),
  ]
  const addArguments = (index: number, text: string) =>
    say({ tool_calls: [{ index, function: { arguments: text } }] })

  function begin(
    index: unknown,
    { type, text, id, name, input, data, thinking }: Fields,
  ): TranslatedChunk[] {
    const call = type === 'tool_use' ? callCount++ : -1
    const block = { type, call, thinking: '', signature: '', hasInput: false }
    open.set(index, block)
    if (type === 'text' && text) return say({ content: text })
    if (type === 'thinking' && thinking) return think(block, textOrEmpty(thinking))
    if (type === 'redacted_thinking') return say({ reasoning_details: [toDetail({ type, data })] })
    if (type !== 'tool_use') return []
    block.hasInput = isObject(input) && Object.keys(input).length > 0
    const given = { name, arguments: block.hasInput ? renderJson(input) : '' }
    return say({ tool_calls: [{ index: call, id, type: 'function', function: given }] })
  }

  function think(block: OpenBlock, text: string): TranslatedChunk[] {
    block.thinking += text
    return text === '' ? [] : say({ reasoning: text, reasoning_content: text })
  }

  function addDelta(block: OpenBlock, delta: Fields): TranslatedChunk[] {
    if (delta.type === 'text_delta') return say({ content: textOrEmpty(delta.text) })
    if (delta.type === 'thinking_delta') return think(block, textOrEmpty(delta.thinking))
    if (delta.type === 'signature_delta') block.signature += textOrEmpty(delta.signature)
    const json = delta.type === 'input_json_delta' ? filledTextOrNull(delta.partial_json) : null
    if (json === null || block.call === -1) return []
    block.hasInput = true
    return addArguments(block.call, json)
  }

  function end(index: unknown): TranslatedChunk[] {
    const block = open.get(index)
    open.delete(index)
    if (block?.type === 'thinking' && block.signature !== '') {
      const { thinking, signature } = block
      return say({ reasoning_details: [toDetail({ type: 'thinking', thinking, signature })] })
    }
    // Clients parse the arguments of a call without any.
    return block !== undefined && block.call !== -1 && !block.hasInput
      ? addArguments(block.call, '{}')
      : []
  }

  return {
    add({ type, message, index, content_block, delta, usage: told }) {
      if (type === 'message_start') {
        head = objectOrEmpty(message)
        usage = objectOrEmpty(head.usage)
        return say({ role: 'assistant', content: '' })
      }
      if (type === 'content_block_start') return begin(index, objectOrEmpty(content_block))
      const block = open.get(index)
      if (type === 'content_block_delta') return block ? addDelta(block, objectOrEmpty(delta)) : []
      if (type === 'content_block_stop') return end(index)
      if (type === 'message_delta') {
        usage = mergeMessageUsage(usage, told)
        const { stop_reason, stop_sequence } = objectOrEmpty(delta)
        const stop = stop_sequence ? { stop_reason: stop_sequence } : {}
        return stop_reason ? say({}, { finish_reason: toFinishReason(stop_reason), ...stop }) : []
      }
      return type === 'message_stop' ? [chunk([], { usage: toChatUsage(usage) })] : []
    },
  }
}
