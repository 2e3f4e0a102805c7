import { describe, expect, it } from 'vitest'
import {
  lastMessageText,
  type Message,
  newestOf,
  promptOf,
  responseMessagesOf,
} from '../../../src/page/parts/messages/messages.ts'
import {
  addChunk,
  type Chunk,
  messageOf,
  NO_COMPLETION,
} from '../../../src/page/playground/completion.ts'
import { changeAll, changed, textOf } from '../../../src/page/playground/drafts.ts'
import { parametersOf, valuesOf } from '../../../src/page/playground/parameters.ts'
import { buildTestApp } from '../../support/build-test-app.ts'

describe('an answer of chunks', () => {
  it('joins texts, tool calls, logprobs and usage', () => {
    const call = (more: object) => ({
      choices: [{ delta: { tool_calls: [{ index: 0, ...more }] } }],
    })
    const chunks: Chunk[] = [
      {
        choices: [
          { delta: { content: 'a' }, logprobs: { content: [{ token: 'a', logprob: -1 }] } },
        ],
      },
      { choices: [{ delta: { content: 'b', reasoning: 'hm' } }] },
      call({ id: 'c1', function: { name: 'find', arguments: '{"a"' } }),
      call({ function: { arguments: ':1}' } }),
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    ]
    const answer = chunks.reduce(addChunk, NO_COMPLETION)
    expect(answer).toMatchObject({
      finishReason: 'tool_calls',
      promptTokens: 3,
      completionTokens: 4,
    })
    expect(answer.logprobs).toEqual([{ token: 'a', logprob: -1 }])
    expect(messageOf(answer)).toEqual({
      role: 'assistant',
      content: 'ab',
      reasoning: 'hm',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"a":1}' } },
      ],
    })
    expect(NO_COMPLETION.content).toBe('')
  })

  const piece = (more: object): Chunk => ({ choices: [{ delta: { tool_calls: [more] } }] })
  const begin = (more: object, name: string) =>
    piece({ ...more, function: { name, arguments: '{' } })
  const end = (more: object) => piece({ ...more, function: { arguments: '}' } })
  it.each([
    [
      'counted from 1',
      [
        begin({ index: 1, id: 'a' }, 'find'),
        end({ index: 1 }),
        begin({ index: 2, id: 'b' }, 'sort'),
        end({ index: 2 }),
      ],
    ],
    [
      'that take turns',
      [
        begin({ index: 0, id: 'a' }, 'find'),
        begin({ index: 1, id: 'b' }, 'sort'),
        end({ index: 0 }),
        end({ index: 1 }),
      ],
    ],
    [
      'without an index',
      [begin({ id: 'a' }, 'find'), end({}), begin({ id: 'b' }, 'sort'), end({ index: null })],
    ],
    [
      'with 0 for each',
      [
        begin({ index: 0, id: 'a' }, 'find'),
        end({ index: 0, id: 'a' }),
        begin({ index: 0, id: 'b' }, 'sort'),
        end({ index: 0 }),
      ],
    ],
  ])('takes tool calls %s', (_name, chunks) => {
    const { tool_calls } = messageOf(chunks.reduce(addChunk, NO_COMPLETION))
    const called = (id: string, name: string) => ({
      id,
      type: 'function',
      function: { name, arguments: '{}' },
    })
    expect(tool_calls).toEqual([called('a', 'find'), called('b', 'sort')])
  })

  it('takes texts and thoughts that come as lists of parts', () => {
    const delta = (content: NonNullable<NonNullable<Chunk['choices']>[0]['delta']>['content']) => ({
      choices: [{ delta: { content } }],
    })
    const chunks: Chunk[] = [
      delta([{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }]),
      delta([{ type: 'thinking', thinking: '.' }]),
      delta([{ type: 'text', text: 'Be' }]),
      delta('cause'),
    ]
    expect(messageOf(chunks.reduce(addChunk, NO_COMPLETION))).toEqual({
      role: 'assistant',
      content: 'Because',
      reasoning: 'hm.',
    })
  })
})

describe('the parameters of the form', () => {
  it('are those of the document of the server, each in the kind of its schema', async () => {
    const { get } = await buildTestApp()
    const { first, others } = parametersOf((await get('/openapi.json')).body)
    const kinds = Object.fromEntries([...first, ...others].map(({ name, kind }) => [name, kind]))
    expect(kinds).toMatchObject({
      temperature: 'number',
      max_completion_tokens: 'integer',
      logprobs: 'boolean',
      reasoning_effort: 'choice',
      tools: 'json',
      stop: 'json',
      min_p: 'number',
      user: 'text',
    })
    for (const own of ['messages', 'model', 'stream', 'max_tokens'])
      expect(kinds).not.toHaveProperty(own)
    expect(first[0]).toMatchObject({ name: 'temperature', minimum: 0, maximum: 2 })
    const texts = {
      temperature: '0.5',
      logprobs: 'true',
      stop: 'END',
      tools: '[{"type":"function"}]',
      seed: '',
    }
    expect(valuesOf(texts, [...first, ...others])).toEqual({
      temperature: 0.5,
      logprobs: true,
      stop: 'END',
      tools: [{ type: 'function' }],
    })
    expect(() => valuesOf({ tools: '[{' }, first)).toThrow('tools is not valid JSON.')
  })
})

describe('messages in what a call took and gave', () => {
  const said = { role: 'user', content: 'Why?' }
  it.each([
    ['of a chat', { messages: [said] }, [said]],
    [
      'of a response',
      { input: [said], instructions: 'Be brief.' },
      [{ role: 'system', content: 'Be brief.' }, said],
    ],
    ['one text', { input: 'Why?' }, [said]],
    ['none', { question: 'Why?' }, []],
    ['no object', null, []],
    ['one that is none', { messages: [said, 5] }, []],
    [
      'with parts in place of a content',
      {
        messages: [
          { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Why?' }] },
          { role: 'user', parts: [{ type: 'text', content: 'Why?' }, { type: 'file' }] },
        ],
      },
      [
        { id: 'm', role: 'user', content: [{ type: 'text', text: 'Why?' }] },
        { role: 'user', content: [{ type: 'text', text: 'Why?' }, { type: 'file' }] },
      ],
    ],
  ])('%s', (_name, inputs, messages) => {
    expect(promptOf(inputs)).toEqual(messages)
  })

  it.each([
    ['choices', { choices: [{ message: said }] }, [said]],
    ['a message', said, [said]],
    ['a text', 'Because.', []],
    [
      'items of a response',
      { output: [{ type: 'function_call', name: 'find', arguments: '{}' }, said] },
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ function: { name: 'find', arguments: '{}' } }],
        },
        said,
      ],
    ],
    [
      'items of a response beside its messages',
      { output: [{ type: 'web_search_call', status: 'completed' }, said] },
      [
        { role: 'web_search_call', content: { type: 'web_search_call', status: 'completed' } },
        said,
      ],
    ],
    ['no items without a message', { output: [{ type: 'web_search_call' }] }, []],
  ])('of an answer: %s', (_name, output, messages) => {
    expect(responseMessagesOf(output)).toEqual(messages)
  })

  it('the newest are those behind the last answer', () => {
    const answer = { role: 'assistant', content: 'Because.' }
    expect(newestOf([{ role: 'system', content: 'x' }, said, answer, said])).toEqual([said])
    expect(newestOf([{ role: 'system', content: 'x' }, said])).toEqual([said])
  })

  it.each([
    [[], null],
    [
      [
        { role: 'user', content: 'first' },
        { role: 'user', content: 'last' },
      ],
      'last',
    ],
    [[{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, 'b'] }], 'a b'],
    [[{ role: 'assistant', content: '', tool_calls: [{ function: { name: 'find' } }] }], '→ find'],
    [[{ role: 'assistant', content: null }], null],
    [[{ role: 'assistant', content: null, refusal: 'No.' }], 'No.'],
    [[{ role: 'assistant', content: null, audio: { transcript: 'Hello.' } }], 'Hello.'],
    [[{ role: 'assistant', content: null, function_call: { name: 'find' } }], '→ find'],
    [[{ role: 'assistant', content: null, tool_calls: [{ function: { name: {} } }] }], '→ a tool'],
    [[{ role: 'user', content: { text: 'of an object' } }], 'of an object'],
  ])('in a line: %j', (messages, words) => expect(lastMessageText(messages)).toBe(words))
})

describe('messages that are edited', () => {
  it('are changed as texts or as JSON, and stay themselves where nothing was typed', () => {
    const said = { role: 'user', content: 'Why?' }
    const parts = { role: 'user', content: [{ type: 'text', text: 'Why?' }] }
    const called = { role: 'assistant', content: null, tool_calls: [] }
    const drafts = new Map<Message, string>([
      [said, '[1]'],
      [parts, '[]'],
      [called, textOf(called)],
    ])
    const [first, second, third] = changeAll([said, parts, called], drafts)
    expect([first?.content, second?.content]).toEqual(['[1]', []])
    expect(third).toBe(called)
    expect(() => changed(parts, '[')).toThrow('not valid JSON')
  })
})
