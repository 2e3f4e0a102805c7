/** Assembles the events of a message into the whole message. Pure. */
import { ApiError } from '../../../errors.ts'
import { isObject } from '../../json/is-object.ts'
import { parseLossless } from '../../json/json-text.ts'
import { objectOrEmpty, textOrEmpty } from '../../json/json-values.ts'
import { mergeMessageUsage } from './messages-tables.ts'

type Fields = Readonly<Record<string, unknown>>
type Block = Record<string, unknown>

interface MessageAssembly {
  /** Adds the next event; events that say nothing about the message are ignored. */
  add(event: Fields): void
  /** Returns the message so far; null before its first event. The input of a tool that is no JSON object is empty. */
  message(): Fields | null
  /** @throws ApiError upstream_invalid_response for the input of a tool that is no JSON object, unless tokens ran out */
  requireInputs(): void
  /** Whether text beyond the limit was left out. */
  isCut(): boolean
}

/** The member of a block that each kind of delta continues. */
const TEXT_DELTAS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

/** @param charsMax - limit: characters of the message */
export function createMessageAssembly(charsMax: number): MessageAssembly {
  let head: Fields | null = null
  let end: Fields = {}
  let usage: Fields = {}
  let chars = 0
  let isCut = false
  const blocks = new Map<number, { readonly block: Block; json: string }>()

  function take(text: string): string {
    const rest = text.slice(0, Math.max(0, charsMax - chars))
    chars += text.length
    isCut ||= rest.length < text.length
    return rest
  }

  function addDelta(index: number, delta: Fields): void {
    const part = blocks.get(index)
    if (part === undefined) return
    const { block } = part
    const member = TEXT_DELTAS[String(delta.type)]
    if (member !== undefined)
      block[member] = textOrEmpty(block[member]) + take(textOrEmpty(delta[member]))
    if (delta.type === 'input_json_delta') part.json += take(textOrEmpty(delta.partial_json))
    if (delta.type === 'citations_delta') {
      const known = Array.isArray(block.citations) ? block.citations : []
      if (take(JSON.stringify(delta.citation ?? null)) !== '') {
        block.citations = [...known, delta.citation]
      }
    }
  }

  function renderBlock({ block, json }: { readonly block: Block; readonly json: string }): Block {
    if (json === '') return block
    return { ...block, input: parseToolInput(json) ?? {} }
  }

  return {
    add({ type, message, index, content_block, delta, usage: told }) {
      if (type === 'message_start') {
        head = objectOrEmpty(message)
        usage = objectOrEmpty(head.usage)
      } else if (type === 'content_block_start' && isObject(content_block)) {
        if (take(JSON.stringify(content_block)) === '') return
        blocks.set(Number(index), { block: { ...content_block }, json: '' })
      } else if (type === 'content_block_delta') {
        addDelta(Number(index), objectOrEmpty(delta))
      } else if (type === 'message_delta') {
        end = { ...end, ...objectOrEmpty(delta) }
        usage = mergeMessageUsage(usage, told)
      }
    },
    message() {
      if (head === null) return null
      const content = [...blocks].sort(([a], [b]) => a - b).map(([, part]) => renderBlock(part))
      return { ...head, content, ...end, usage }
    },
    requireInputs() {
      const isBroken = [...blocks.values()].some(({ json }) => json !== '' && !parseToolInput(json))
      if (isBroken && end.stop_reason !== 'max_tokens') throw invalidToolInput()
    },
    isCut: () => isCut,
  }
}

/** Returns the input of a call, its numbers as they were sent; null for a text that is no JSON object. */
export function parseToolInput(json: string): Fields | null {
  try {
    const input = parseLossless(json)
    return isObject(input) ? input : null
  } catch {
    return null
  }
}

/** The error for a call with such a text. */
export function invalidToolInput(): ApiError {
  const message = 'The upstream sent arguments of a tool call that are no JSON object.'
  return new ApiError('upstream_invalid_response', { message })
}
