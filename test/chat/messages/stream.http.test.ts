/** The events of streamed messages over chats: their order, and how a failure ends them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMessageAssembly } from '../../../src/domain/chat/messages/message-assembly.ts'
import { createMessageWriter } from '../../../src/domain/chat/messages/messages-events.ts'
import { ApiError } from '../../../src/errors.ts'
import { finish, piece, prompt, type Step } from '../../support/scripted-backend.ts'
import { buildApp, HI, URL } from './scripted-messages.ts'

interface Event {
  readonly type: string
  readonly [name: string]: unknown
}

/** The events of a stream, whose names are those of their types. */
function eventsOf(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [, name, json] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? []
      const event = JSON.parse(json ?? 'null')
      expect(event.type).toBe(name)
      return event
    })
}

async function streamed(script: readonly Step[], more: object = {}) {
  const { post } = await buildApp(script)
  const answer = await post(URL, { ...HI, stream: true, ...more })
  return { answer, events: eventsOf(answer.text) }
}

describe('a streamed message', () => {
  it('has its events in the order of the API, with the usage at both ends', async () => {
    const script = [
      prompt(10, 4),
      piece('', { reasoning: 'why' }),
      piece('Hel'),
      piece('lo'),
      piece('', { toolCalls: [{ index: 0, id: 'a', name: 'f', arguments: '{"x"' }] }),
      piece('', { toolCalls: [{ index: 0, arguments: ':1}' }] }),
      finish({ finish_reason: 'tool_calls' }),
    ]
    const { answer, events } = await streamed(script, { thinking: { type: 'adaptive' } })
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/)
    expect(answer.headers['request-id']).toBe(answer.headers['x-request-id'])
    const usage = { input_tokens: 6, cache_creation_input_tokens: 0, cache_read_input_tokens: 4 }
    const block = (index: number, content_block: object) => ({
      type: 'content_block_start',
      index,
      content_block,
    })
    const delta = (index: number, more: object) => ({
      type: 'content_block_delta',
      index,
      delta: more,
    })
    const stop = (index: number) => ({ type: 'content_block_stop', index })
    expect(events).toEqual([
      {
        type: 'message_start',
        message: {
          id: expect.stringMatching(/^msg_\w+$/),
          type: 'message',
          role: 'assistant',
          model: 'scripted',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 0 },
        },
      },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'why' }),
      stop(0),
      block(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'Hel' }),
      delta(1, { type: 'text_delta', text: 'lo' }),
      stop(1),
      block(2, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"x"' }),
      delta(2, { type: 'input_json_delta', partial_json: ':1}' }),
      stop(2),
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { ...usage, output_tokens: 5 },
      },
      { type: 'message_stop' },
    ])
  })

  it('that fails before its beginning has the status of its error', async () => {
    const { answer } = await streamed([new ApiError('upstream_overloaded')])
    expect(answer.status).toBe(529)
    expect(answer.body.error.type).toBe('overloaded_error')
  })

  it('that fails after its beginning ends with an error event, never in silence', async () => {
    const { answer, events } = await streamed([
      prompt(),
      piece('Hel'),
      new ApiError('upstream_overloaded'),
    ])
    expect(answer.status).toBe(200)
    expect(events.at(-1)).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'The upstream is overloaded.' },
      request_id: answer.headers['request-id'],
    })
    expect(events.map(({ type }) => type)).not.toContain('message_stop')
  })

  it('that its backend ends too early is an error, too', async () => {
    const { events } = await streamed([prompt(), piece('Hel')])
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })
})

const HEAD = { id: 'msg_1', model: 'm', stopSequences: [], thinking: 'shown' } as const

describe('the blocks of a message', () => {
  it('are open one at a time and hold what the chat said, however its calls are interleaved', () => {
    const pieces = fc.array(
      fc.record({ index: fc.nat(2), text: fc.string({ minLength: 1, maxLength: 4 }) }),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }),
        pieces,
        (texts, calls) => {
          const writer = createMessageWriter(HEAD)
          const events = texts.flatMap((content) =>
            writer.add({ choices: [{ delta: { content } }] }),
          )
          const said = new Map<number, string>()
          for (const { index, text } of calls) {
            const name = said.has(index) ? {} : { id: `c${index}`, function: { name: `f${index}` } }
            said.set(index, (said.get(index) ?? '') + text)
            const call = { index, ...name, function: { ...name.function, arguments: text } }
            events.push(...writer.add({ choices: [{ delta: { tool_calls: [call] } }] }))
          }
          events.push(...writer.end())

          let open: number | null = null
          let next = 0
          const args = new Map<string, string>()
          let id = ''
          for (const event of events) {
            if (event.type === 'content_block_start') {
              expect(open).toBeNull()
              expect(event.index).toBe(next++)
              open = Number(event.index)
              const block = event.content_block as { id?: string }
              id = block.id ?? ''
              if (id !== '') args.set(id, '')
            } else if (event.type === 'content_block_delta') {
              expect(event.index).toBe(open)
              const delta = event.delta as { partial_json?: string }
              if (id !== '') args.set(id, args.get(id) + (delta.partial_json ?? ''))
            } else if (event.type === 'content_block_stop') open = null
          }
          expect(open).toBeNull()
          expect([...args]).toEqual([...said].map(([index, text]) => [`c${index}`, text]))
          const assembly = createMessageAssembly(1_000_000)
          for (const event of events) assembly.add(event)
          const content = assembly.message()?.content as { type: string; text?: string }[]
          expect(content.map(({ text = '' }) => text).join('')).toBe(texts.join(''))
        },
      ),
    )
  })

  it('keep the signature of thinking, also where its text is omitted', () => {
    for (const [thinking, text] of [
      ['shown', 'why'],
      ['omitted', ''],
    ] as const) {
      const writer = createMessageWriter({ ...HEAD, thinking })
      const assembly = createMessageAssembly(1_000)
      const detail = { type: 'reasoning.text', text: 'why', signature: 'sig' }
      const delta = { reasoning: 'why', reasoning_details: [detail], content: '' }
      for (const event of writer.add({ choices: [{ delta }] })) assembly.add(event)
      for (const event of writer.end()) assembly.add(event)
      expect(assembly.message()?.content).toEqual([
        { type: 'thinking', thinking: text, signature: 'sig' },
      ])
    }
  })
})
