import { describe, expect, it } from 'vitest'
import type { Delta } from '../../src/inference/backend.ts'
import {
  createCollector,
  resolveResponseEnvelope,
} from '../../src/inference/chat/whole-completion.ts'
import { ChatCompletionResponse } from '../../src/schemas/chat/chat-response.ts'
import { finish, logprob, piece, prompt } from '../support/scripted-backend.ts'

const HEAD = { id: 'chatcmpl-1', created: 7, model: 'm', role: 'assistant', choiceCount: 1 }

function render(deltas: readonly Delta[], head: Partial<typeof HEAD> = {}): string {
  const collector = createCollector({ ...HEAD, ...head })
  for (const delta of deltas) collector.add(delta)
  return collector.render()
}

const collect = (...given: Parameters<typeof render>) => JSON.parse(render(...given))

describe('createCollector', () => {
  it('tool calls are collected, with null for a missing text', () => {
    const calls = [
      { index: 0, id: 'call_1', name: 'add', arguments: '{"a"' },
      { index: 0, arguments: ': 1}' },
      { index: 1, id: 'call_2', name: 'sub', arguments: '{}' },
    ]
    const pieces = calls.map((call) => piece('', { toolCalls: [call] }))
    const end = finish({ finish_reason: 'tool_calls' })
    const { message, finish_reason } = collect([prompt(), ...pieces, end]).choices[0]
    expect(finish_reason).toBe('tool_calls')
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } },
        { id: 'call_2', type: 'function', function: { name: 'sub', arguments: '{}' } },
      ],
    })
  })

  it('the chunks of a choice are joined into a response of the schema', () => {
    const answer = collect([prompt(3, 2), piece('Hel'), piece('lo'), finish({ stop_reason: 9 })])
    expect(answer).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 7,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
          stop_reason: 9,
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 2 },
      },
    })
    expect(ChatCompletionResponse.safeParse(answer).success).toBe(true)
  })

  it('choices are sorted by index, and the tokens of all counted', () => {
    const answer = collect(
      [
        prompt(1),
        piece('b', { index: 1, tokenCount: 2 }),
        piece('a'),
        finish({ index: 1, finish_reason: 'length' }),
        finish(),
      ],
      { choiceCount: 2 },
    )
    expect(
      answer.choices.map((choice: { message: { content: string } }) => choice.message.content),
    ).toEqual(['a', 'b'])
    expect(answer.choices[1].finish_reason).toBe('length')
    expect(answer.usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 })
  })

  it('log-probabilities are joined', () => {
    const first = piece('a', { logprobs: [logprob('a', -1)] })
    const second = finish({ logprobs: [logprob('b', -2)] })
    const answer = collect([prompt(), first, second])
    expect(answer.choices[0].logprobs.content).toEqual([logprob('a', -1), logprob('b', -2)])
  })

  it('reasoning and token ids are joined, and requested facts of the prompt are returned', () => {
    const promptLogprobs = [null, { 5: { logprob: -1, rank: 2, decoded_token: 'x' } }]
    const answer = collect([
      { type: 'prompt', promptTokens: 2, cachedTokens: 0, promptIds: [4, 5], promptLogprobs },
      piece('', { reasoning: 'Hm', tokenIds: [1] }),
      piece('a', { reasoning: '.', tokenIds: [2, 3] }),
      finish({ tokenIds: [9] }),
    ])
    expect(answer.choices[0].message).toMatchObject({
      content: 'a',
      reasoning: 'Hm.',
      reasoning_content: 'Hm.',
    })
    expect(answer.choices[0].token_ids).toEqual([1, 2, 3, 9])
    expect(answer.prompt_token_ids).toEqual([4, 5])
    expect(answer.prompt_logprobs).toEqual(promptLogprobs)
    expect(ChatCompletionResponse.safeParse(answer).success).toBe(true)
  })

  it('without a generation prompt the response has the role of the last message', () => {
    const request = { messages: [{ role: 'narrator', content: 'x' }], continue_final_message: true }
    const given = { requestId: 'r', model: 'm', nowMs: 1_999 }
    expect(resolveResponseEnvelope(request, given)).toEqual({
      id: 'chatcmpl-r',
      created: 1,
      model: 'm',
      role: 'narrator',
      choiceCount: 1,
    })
    expect(resolveResponseEnvelope({ ...request, continue_final_message: null }, given).role).toBe(
      'assistant',
    )
  })

  it('an upstream response is passed unchanged', () => {
    const json = '{ "id":"x", "choices":[ ],"seed":9223372036854775807 }'
    expect(render([{ type: 'relayed', texts: [{ json, value: {} }] }])).toBe(json)
  })

  it.each([
    ['a choice has no end', [prompt(), piece('a')], 1],
    ['a choice is missing', [prompt(), finish()], 2],
    ['there is nothing', [], 1],
  ])('a response is refused when %s', (_name, deltas, choiceCount) => {
    const error = expect.objectContaining({ code: 'internal_error' })
    expect(() => collect(deltas, { choiceCount })).toThrow(error)
  })
})
