/** Chat requests to plans: defaults, seeds, and which content is refused. */
import { describe, expect, it } from 'vitest'
import { planCompletion } from '../../../src/inference/tiny/sampling/completion-plan.ts'
import type { ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'

const plan = (request: Partial<ChatCompletionRequest>) =>
  planCompletion({ messages: [{ role: 'user', content: 'Hi' }], ...request }, '', () => 77n)
const seen = (message: ChatCompletionRequest['messages'][number]) =>
  plan({ messages: [message] }).prompt.messages[0]

describe('planCompletion', () => {
  it('fills in the defaults, also for null', () => {
    const nulls = {
      temperature: null,
      top_p: null,
      n: null,
      stop: null,
      logprobs: null,
      seed: null,
    }
    expect(plan(nulls)).toEqual(plan({}))
    expect(plan({})).toMatchObject({
      tokensMax: null,
      choices: 1,
      seed: 77n,
      stops: [],
      sampling: { temperature: 1, topP: 1, topK: 0, repetitionPenalty: 1, topLogprobs: null },
    })
  })

  it('lets max_completion_tokens win', () => {
    expect(plan({ max_tokens: 5 }).tokensMax).toBe(5)
    expect(plan({ max_tokens: 5, max_completion_tokens: 9 }).tokensMax).toBe(9)
  })

  it('takes one stop string or a list', () => {
    expect(plan({ stop: 'END' }).stops).toEqual(['END'])
    expect(plan({ stop: ['a', 'b'] }).stops).toEqual(['a', 'b'])
  })

  it('takes every seed by its 64-bit value', () => {
    const seeds = [0, 1, -1, 2 ** 53 + 2, 9_223_372_036_854_776_000, -9_223_372_036_854_776_000]
    const planned = seeds.map((seed) => plan({ seed }).seed)
    expect(planned).toEqual([0n, 1n, 2n ** 64n - 1n, 2n ** 53n + 2n, 2n ** 63n, 2n ** 63n])
  })

  it.each(['9223372036854775807', '9223372036854775806', '-9223372036854775808'])(
    'takes the digits of the seed %s from the body',
    (digits) => {
      const body = `{"messages":[{"content":"\\"seed\\":1"}], "seed" : ${digits} }`
      const request = { messages: [{ role: 'user', content: 'x' }], seed: Number(digits) }
      expect(planCompletion(request, body, () => 0n).seed).toBe(BigInt.asUintN(64, BigInt(digits)))
    },
  )

  it('raises small temperatures as vLLM does', () => {
    const temperatures = [0, 9e-6, 1e-5, 0.005, 0.5]
    expect(temperatures.map((temperature) => plan({ temperature }).sampling.temperature)).toEqual([
      0, 0, 0.01, 0.01, 0.5,
    ])
  })

  it('reports alternatives only with logprobs', () => {
    expect(plan({ logprobs: true }).sampling.topLogprobs).toBe(0)
    expect(plan({ logprobs: true, top_logprobs: 4 }).sampling.topLogprobs).toBe(4)
    expect(plan({ logprobs: false, top_logprobs: 4 }).sampling.topLogprobs).toBeNull()
  })

  it('reads logit_bias and lists of ids', () => {
    const { sampling, stopIds } = plan({
      logit_bias: { '5': -100, '7': 3 },
      allowed_token_ids: [1, 2],
      stop_token_ids: [4, 4],
    })
    expect([...sampling.logitBias]).toEqual([
      [5, -100],
      [7, 3],
    ])
    expect(sampling.allowedIds).toEqual(new Set([1, 2]))
    expect(stopIds).toEqual([4])
  })

  it('joins text parts', () => {
    const content = [{ type: 'text', text: 'What is ' }, '3 plus 4?']
    expect(seen({ role: 'user', content })?.content).toBe('What is 3 plus 4?')
  })

  it.each([
    [{ type: 'image_url', image_url: { url: 'x' } }],
    [{ type: 'refusal', refusal: 'no' }],
    [{ type: 'text' }],
  ])('refuses the part %o by its place', (part) => {
    const messages = [
      { role: 'system', content: 'x' },
      { role: 'user', content: ['a', part] },
    ]
    expect(() => plan({ messages })).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'messages[1].content[1]' }),
    )
  })

  it('refuses an audio answer', () => {
    expect(() => seen({ role: 'assistant', content: null, audio: { id: 'a' } })).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'messages[0].audio' }),
    )
  })

  it('keeps what templates can show, and reads missing content as empty', () => {
    expect(seen({ role: 'tool', content: '5', tool_call_id: 'c1', name: 'add' })).toEqual({
      role: 'tool',
      content: '5',
      tool_call_id: 'c1',
      name: 'add',
    })
    expect(seen({ role: 'assistant', content: null, refusal: 'No.' })?.content).toBe('No.')
    const called = { name: 'add', arguments: '{}' }
    const call = { type: 'function', function: called }
    expect(seen({ role: 'assistant', tool_calls: [call] })).toMatchObject({ tool_calls: [call] })
    expect(seen({ role: 'assistant', function_call: called })).toMatchObject({ tool_calls: [call] })
  })
})
