/** Messages that become a chat and messages again, and messages of a model that become a completion and events again. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toChunk } from '../../../src/domain/chat/message-deltas.ts'
import { renderMessageRequest } from '../../../src/domain/chat/messages/chat-to-messages.ts'
import { createMessageAssembly } from '../../../src/domain/chat/messages/message-assembly.ts'
import { createMessageWriter } from '../../../src/domain/chat/messages/messages-events.ts'
import { toChatMessages } from '../../../src/domain/chat/messages/messages-input.ts'
import {
  createChunkTranslation,
  toCompletion,
} from '../../../src/domain/chat/messages/messages-to-chat.ts'

const text = fc.string({ minLength: 1, maxLength: 8 })
const input = fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.integer(), text), {
  maxKeys: 3,
})
const texts = fc.array(
  text.map((said) => ({ type: 'text', text: said })),
  { maxLength: 3 },
)
const thoughts = fc.array(
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  { maxLength: 2 },
)
const calls = fc.array(fc.record({ name: fc.constant('f'), input }), { maxLength: 3 })

/** One exchange: the user, the assistant with its calls, and their results. */
const exchange = fc.record({
  asked: fc.array(
    text.map((said) => ({ type: 'text', text: said })),
    { minLength: 1, maxLength: 2 },
  ),
  thoughts,
  texts,
  calls,
  results: fc.array(text, { minLength: 3, maxLength: 3 }),
})

interface Turn {
  readonly role: string
  readonly content: readonly object[]
}

/** Joins neighbours of one role, as the API does. */
function joined(turns: readonly Turn[]): Turn[] {
  const all: { role: string; content: object[] }[] = []
  for (const { role, content } of turns) {
    if (content.length === 0) continue
    if (all.at(-1)?.role === role) all.at(-1)?.content.push(...content)
    else all.push({ role, content: [...content] })
  }
  return all
}

const OPTIONS = { maxTokens: 100, thinking: 'adaptive', callsTools: true } as const

describe('a conversation', () => {
  it('keeps texts, signed thinking, calls, results and their order as a chat', () => {
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1, maxLength: 4 }), (exchanges) => {
        const turns = exchanges.flatMap(
          ({ asked, thoughts, texts, calls, results }, at): Turn[] => {
            const uses = calls.map((call, index) => ({
              type: 'tool_use',
              id: `c${at}_${index}`,
              ...call,
            }))
            const answers = uses.map(({ id }, index) => ({
              type: 'tool_result',
              tool_use_id: id,
              content: [{ type: 'text', text: results[index] ?? '' }],
            }))
            return [
              { role: 'user', content: asked },
              { role: 'assistant', content: [...thoughts, ...texts, ...uses] },
              { role: 'user', content: answers },
            ]
          },
        )
        const messages = joined(turns) as never
        const chat = { messages: toChatMessages({ messages, system: 'brief' }, false).messages }
        const back = JSON.parse(renderMessageRequest(JSON.stringify(chat), 'm', OPTIONS))
        expect(back.system).toEqual([{ type: 'text', text: 'brief' }])
        expect(back.messages).toEqual(messages)
      }),
    )
  })
})

const HEAD = { id: 'msg_1', model: 'm', stopSequences: [], thinking: 'shown' } as const

function collect(chunks: readonly object[]) {
  const writer = createMessageWriter(HEAD)
  const assembly = createMessageAssembly(1_000_000)
  const events = chunks.flatMap((chunk) => writer.add(chunk as Record<string, unknown>))
  for (const event of [...events, ...writer.end()]) assembly.add(event)
  return assembly.message()
}

describe('a message of a model', () => {
  it('is the same message after a completion, and after chunks', () => {
    const blocks = fc.tuple(thoughts, fc.array(text, { maxLength: 1 }), calls)
    fc.assert(
      fc.property(blocks, fc.nat(9), fc.nat(9), ([thinking, said, called], read, written) => {
        const content = [
          ...thinking,
          ...said.map((one) => ({ type: 'text', text: one })),
          ...called.map((call, at) => ({ type: 'tool_use', id: `c${at}`, ...call })),
        ]
        const stop_reason = called.length > 0 ? 'tool_use' : 'end_turn'
        const usage = {
          input_tokens: 5,
          cache_read_input_tokens: read,
          cache_creation_input_tokens: written,
          output_tokens: 3,
        }
        const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
        const message = { ...head, content, stop_reason, stop_sequence: null, usage }
        const whole = toCompletion(JSON.stringify(message), 1)
        expect(collect([toChunk(whole)])).toEqual(message)

        const translation = createChunkTranslation(1)
        const streamed = toEvents(message, content).flatMap((event) => translation.add(event))
        expect(collect(streamed.map(({ chunk }) => chunk))).toEqual(message)
      }),
    )
  })
})

interface Block {
  readonly type: string
  readonly [name: string]: unknown
}

/** The events of a message as the API sends them. */
function toEvents(message: Record<string, unknown>, content: readonly Block[]) {
  const { usage, stop_reason, stop_sequence, ...head } = message
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
  const blocks = content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: emptied(block) },
    ...listDeltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ])
  const end = {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence },
    usage: { output_tokens: 3 },
  }
  return [{ type: 'message_start', message: start }, ...blocks, end, { type: 'message_stop' }]
}

function emptied({ type, id, name }: Block): object {
  if (type === 'tool_use') return { type, id, name, input: {} }
  return type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' }
}

function listDeltas({ type, text: said, thinking, signature, input: given }: Block): object[] {
  if (type === 'text') return [{ type: 'text_delta', text: said }]
  if (type === 'tool_use') {
    return [...JSON.stringify(given)].map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    }))
  }
  return [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  ]
}
