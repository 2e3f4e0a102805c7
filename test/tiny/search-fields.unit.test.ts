/** Beam search, scripted reasoning, and prompts that are remembered between requests. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import { createEngine } from '../../src/inference/tiny/host/engine.ts'
import { modelFile } from './gguf-fixture.ts'
import { begin, choiceOf, type Fields } from './running.ts'

const random = createEngine(modelFile())
const user = (content: string) => [{ role: 'user', content }]
const totalOf = (fields: Fields, index = 0) =>
  choiceOf(random, { logprobs: true, ...fields }, index).logprobs.reduce(
    (sum, { logprob }) => sum + logprob,
    0,
  )

describe('use_beam_search', () => {
  const short = { ignore_eos: true, max_tokens: 6 }
  const beams = (fields: Fields): Fields => ({ ...short, use_beam_search: true, ...fields })
  const prompts = ['a', 'b', 'c', 'd', 'e', 'f'].map(user)

  it('finds answers that are likelier as a whole than the greedy ones', () => {
    const pairs = prompts.map((messages) => [
      totalOf({ ...short, messages, temperature: 0 }),
      totalOf(beams({ messages, n: 8 })),
    ])
    const gains = pairs.map(([greedy, beam]) => beam! - greedy!)
    expect(gains.filter((gain) => gain > 0.01).length).toBeGreaterThan(gains.length / 2)
    expect(gains.reduce((sum, gain) => sum + gain, 0)).toBeGreaterThan(0.1)
  })

  it('of width 1 is the greedy answer', () => {
    const messages = prompts[0]!
    const greedy = choiceOf(random, { ...short, messages, temperature: 0 })
    expect(choiceOf(random, beams({ messages, n: 1 })).text).toBe(greedy.text)
  })

  it('of the whole width finds the best of all answers of two tokens', () => {
    const allowed = [65, 66, 67]
    const fields = { messages: prompts[1]!, allowed_token_ids: allowed, ignore_eos: true }
    const searched = { ...fields, use_beam_search: true, n: 9, max_tokens: 2 }
    const found = Array.from({ length: 9 }, (_, index) => totalOf(searched, index))
    expect(found).toEqual(found.toSorted((a, b) => b - a))
    const sum = found.reduce((total, logprob) => total + Math.exp(logprob), 0)
    expect(sum).toBeCloseTo(1, 4)
  })

  it('gives n distinct answers, the best first, whatever the seed', () => {
    const fields = beams({ messages: prompts[2]!, n: 5, return_token_ids: true })
    const ids = [0, 1, 2, 3, 4].map((index) => choiceOf(random, fields, index).ids.join())
    expect(new Set(ids).size).toBe(5)
    const totals = [0, 1, 2, 3, 4].map((index) => totalOf(fields, index))
    expect(totals).toEqual(totals.toSorted((a, b) => b - a))
    expect(choiceOf(random, { ...fields, seed: 99, temperature: 2 }).ids.join()).toBe(ids[0])
  })

  it('prefers long answers the more, the larger length_penalty is', () => {
    // One token ends the answer, the other goes on; both cost about the same.
    const fields = {
      messages: prompts[3]!,
      allowed_token_ids: [2, 80],
      use_beam_search: true,
      n: 2,
    }
    const length = (length_penalty: number) =>
      choiceOf(random, { ...fields, max_tokens: 12, length_penalty }).tokens
    expect(length(3)).toBeGreaterThan(length(-3))
  })

  it('ends at the end token and at stop strings as sampling does', () => {
    const fields = beams({ messages: prompts[4]!, n: 3 })
    const { text } = choiceOf(random, fields)
    const [first = ''] = text.slice(1)
    const stopped = choiceOf(random, { ...fields, stop: [first] })
    expect(stopped).toMatchObject({ finish_reason: 'stop', stop_reason: first })
    const ending = { ...fields, ignore_eos: false, allowed_token_ids: [2] }
    expect(choiceOf(random, ending, 2)).toMatchObject({ text: '', finish_reason: 'stop' })
  })

  it('is refused with more beams than there may be', () => {
    expect(() => begin(random, beams({ n: 17 }))).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'n' }),
    )
  })
})

describe('reasoning_effort', () => {
  const shipped = createEngine(readFileSync(TINY_MODEL_PATH))
  const ask = (fields: Fields) =>
    choiceOf(shipped, { messages: user('What is 3 plus 4?'), temperature: 0, ...fields })

  it('adds a scripted reasoning that says so, and leaves the answer as it is', () => {
    const plain = ask({})
    const lengths = (['low', 'medium', 'high'] as const).map((reasoning_effort) => {
      const { text, reasoning, tokens } = ask({ reasoning_effort })
      expect(text).toBe(plain.text)
      expect(reasoning).toMatch(/script/)
      expect(tokens).toBeGreaterThan(plain.tokens)
      return reasoning.length
    })
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b))
    expect(plain.reasoning).toBe('')
  })

  it('is hidden and still counted with include_reasoning false', () => {
    const fields = { reasoning_effort: 'low', return_token_ids: true } as const
    const shown = ask(fields)
    const hidden = ask({ ...fields, include_reasoning: false })
    expect(hidden.reasoning).toBe('')
    expect(hidden.tokens).toBe(shown.tokens)
    expect(shown.ids).toHaveLength(shown.tokens)
    expect(hidden.ids).toEqual(shown.ids.slice(-hidden.ids.length))
  })

  it('ends by length when it takes all tokens', () => {
    const { text, tokens, finish_reason } = ask({ reasoning_effort: 'high', max_tokens: 5 })
    expect({ text, tokens, finish_reason }).toEqual({
      text: '',
      tokens: 5,
      finish_reason: 'length',
    })
  })

  it('comes with every choice', () => {
    const fields = { messages: user('Hi'), reasoning_effort: 'low', n: 3, max_tokens: 60 } as const
    for (const index of [0, 1, 2]) expect(choiceOf(shipped, fields, index).reasoning).not.toBe('')
  })
})
