/** Whole completions of a random model that is made to say known characters. */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { modelFile, SIZES } from '../gguf-fixture.ts'
import {
  advance,
  begin,
  choiceOf as choiceOn,
  type Fields,
  promptOf,
  run as runOn,
} from '../running.ts'

const engine = createEngine(modelFile())
/** Id of a byte in the test model. */
const byteId = (byte: number) => byte + 3
const idOf = (character: string) => byteId(character.charCodeAt(0))
const END_ID = 2
const MESSAGES = [{ role: 'user', content: 'Hi' }]

const run = (fields: Fields) => runOn(engine, fields)
const choiceOf = (fields: Fields, index = 0) => choiceOn(engine, fields, index)

/** Makes the model say one character for ever. */
const only = (character: string): Fields => ({ allowed_token_ids: [idOf(character)] })
/** Makes the model say the characters in turn: each once, and none may occur in the prompt. */
const inTurn = (characters: string): Fields => ({
  allowed_token_ids: [...characters].map(idOf),
  logit_bias: Object.fromEntries([...characters].map((c, i) => [idOf(c), 90 - i * 5])),
  presence_penalty: 2,
  repetition_penalty: 1e6,
  temperature: 0,
})

describe('a completion', () => {
  it('reports the prompt once, before anything else', () => {
    const fresh = createEngine(modelFile())
    const deltas = runOn(fresh, { max_tokens: 3, ignore_eos: true })
    const length = fresh.prompt.encode(promptOf(MESSAGES)).length
    expect(deltas[0]).toEqual({ type: 'prompt', promptTokens: length, cachedTokens: 0 })
    expect(deltas.filter(({ type }) => type === 'prompt')).toHaveLength(1)
  })

  it('reads a long prompt in several short steps', () => {
    // No other test has left the beginning of the prompt in its cache.
    const fresh = createEngine(modelFile())
    const generation = begin(fresh, { messages: [{ role: 'user', content: 'x'.repeat(50) }] })
    const first = advance(fresh, generation, null)
    const second = advance(fresh, generation, first.asked)
    const third = advance(fresh, generation, second.asked)
    const fourth = advance(fresh, generation, third.asked)
    expect([first, second, third].flatMap(({ deltas }) => deltas)).toEqual([])
    expect(first.asked?.[0]?.ids).toHaveLength(32)
    expect(fourth.deltas[0]).toMatchObject({ type: 'prompt' })
  })

  it('ends by length after max_tokens, one piece per token', () => {
    const choice = choiceOf({ max_tokens: 7, ...only('a') })
    expect(choice).toMatchObject({ text: 'aaaaaaa', tokens: 7, finish_reason: 'length' })
    expect(choice.stop_reason).toBeNull()
    expect(choice.pieces).toHaveLength(7)
    expect(choice.pieces.filter((piece) => piece.finish_reason !== null)).toHaveLength(1)
  })

  it('ends by length where the context is full', () => {
    const room = SIZES.context - engine.prompt.encode(promptOf(MESSAGES)).length
    expect(choiceOf(only('a'))).toMatchObject({ tokens: room, finish_reason: 'length' })
    expect(choiceOf({ max_tokens: 9_999, ...only('a') })).toMatchObject({ tokens: room })
  })

  it('refuses a prompt that leaves no room', () => {
    const frame = engine.prompt.encode(promptOf([{ role: 'user', content: '' }])).length
    const filled = (length: number): Fields => ({
      messages: [{ role: 'user', content: 'x'.repeat(length) }],
    })
    expect(choiceOf({ ...filled(SIZES.context - frame - 1), ...only('a') }).tokens).toBe(1)
    for (const length of [SIZES.context - frame, 5_000]) {
      expect(() => begin(engine, filled(length))).toThrow(
        expect.objectContaining({
          code: 'context_length_exceeded',
          param: 'messages',
          message: expect.stringContaining(`maximum context length is ${SIZES.context} tokens`),
        }),
      )
    }
  })

  it.each([
    ['stop_token_ids', { stop_token_ids: [SIZES.vocab] }],
    ['allowed_token_ids', { allowed_token_ids: [5, SIZES.vocab] }],
    ['logit_bias', { logit_bias: { [SIZES.vocab]: 1 } }],
  ])('refuses %s out of the vocabulary', (param, fields) => {
    expect(() => begin(engine, fields)).toThrow(
      expect.objectContaining({ code: 'invalid_value', param }),
    )
  })
})

describe('the end of an answer', () => {
  const ending = { allowed_token_ids: [END_ID] }

  it("is the model's own: the answer stops without a stop reason, and the token is counted but not shown", () => {
    expect(choiceOf(ending)).toMatchObject({
      text: '',
      tokens: 1,
      finish_reason: 'stop',
      stop_reason: null,
    })
  })

  it('is passed over with ignore_eos', () => {
    const choice = choiceOf({ ...ending, ignore_eos: true, max_tokens: 4 })
    expect(choice).toMatchObject({ text: '', tokens: 4, finish_reason: 'length' })
  })

  it('waits for min_tokens', () => {
    const fields = { allowed_token_ids: [END_ID, idOf('a')], logit_bias: { [END_ID]: 100 } }
    expect(choiceOf({ ...fields, min_tokens: 5 })).toMatchObject({ text: 'aaaaa', tokens: 6 })
    expect(choiceOf(fields)).toMatchObject({ text: '', tokens: 1 })
  })

  it('is banned until min_tokens with ignore_eos too, and then passed over', () => {
    const allowed = { allowed_token_ids: [END_ID, idOf('a')], logit_bias: { [END_ID]: 100 } }
    const fields = { ...allowed, ignore_eos: true, min_tokens: 3, max_tokens: 5 }
    const ids = [idOf('a'), idOf('a'), idOf('a'), END_ID, END_ID]
    for (const use_beam_search of [false, true]) {
      const choice = choiceOf({ ...fields, use_beam_search, return_token_ids: true })
      expect(choice).toMatchObject({ ids, finish_reason: 'length' })
    }
  })

  it('comes without a token when nothing may follow', () => {
    const choice = choiceOf({ ...ending, min_tokens: 3 })
    expect(choice).toMatchObject({ text: '', tokens: 0, finish_reason: 'stop', stop_reason: null })
  })

  it('is a token of stop_token_ids, named as the reason', () => {
    const fields = { ...inTurn('ABC'), stop_token_ids: [idOf('C')] }
    expect(choiceOf(fields)).toMatchObject({
      text: 'AB',
      tokens: 3,
      finish_reason: 'stop',
      stop_reason: idOf('C'),
    })
    expect(choiceOf({ ...fields, include_stop_str_in_output: true }).text).toBe('ABC')
  })
})

describe('stop strings', () => {
  it('are found across the borders of tokens, and left out', () => {
    const choice = choiceOf({ ...inTurn('ABCDEF'), stop: ['CDE'] })
    expect(choice).toMatchObject({ text: 'AB', tokens: 5, finish_reason: 'stop' })
    expect(choice.stop_reason).toBe('CDE')
  })

  it('stay in the text with include_stop_str_in_output', () => {
    const fields = { ...inTurn('ABCDEF'), stop: ['CDE'], include_stop_str_in_output: true }
    expect(choiceOf(fields).text).toBe('ABCDE')
  })

  it('hold text back only while it could become one', () => {
    const { pieces } = choiceOf({ ...inTurn('ABCDEF'), stop: ['CDX'], max_tokens: 6 })
    expect(pieces.map(({ content }) => content)).toEqual(['A', 'B', '', '', 'CDE', 'F'])
  })

  it('let go of held text when the answer ends in another way', () => {
    const choice = choiceOf({ ...inTurn('ABC'), stop: ['CD'], max_tokens: 3 })
    expect(choice).toMatchObject({ text: 'ABC', finish_reason: 'length', stop_reason: null })
  })

  it('are not searched for before min_tokens', () => {
    expect(choiceOf({ ...only('A'), stop: ['A'], min_tokens: 3 })).toMatchObject({
      text: 'AAA',
      tokens: 4,
      stop_reason: 'A',
    })
  })
})

describe('text', () => {
  it('is whole characters only', () => {
    const bytes = [...new TextEncoder().encode('🙂')].map(byteId)
    const bias = Object.fromEntries(bytes.map((id, i) => [id, 90 - i * 5]))
    const { pieces } = choiceOf({
      allowed_token_ids: bytes,
      logit_bias: bias,
      repetition_penalty: 1e6,
      presence_penalty: 2,
      temperature: 0,
      max_tokens: 4,
      logprobs: true,
    })
    expect(pieces.map(({ content }) => content)).toEqual(['', '', '', '🙂'])
    expect(pieces.map(({ logprobs }) => logprobs?.[0]?.bytes)).toEqual([[240], [159], [153], [130]])
    expect(pieces[0]?.logprobs?.[0]?.token).toBe('\ufffd')
  })

  it('ends with U+FFFD when a character never became whole', () => {
    expect(choiceOf({ allowed_token_ids: [byteId(0xf0)], max_tokens: 1 }).text).toBe('\ufffd')
  })
})

describe('logprobs', () => {
  it('come one per token, with exactly the asked number of alternatives', () => {
    const { logprobs, tokens } = choiceOf({ logprobs: true, top_logprobs: 3, max_tokens: 8 })
    expect(logprobs).toHaveLength(tokens)
    for (const { top_logprobs, logprob, token, bytes } of logprobs) {
      expect(top_logprobs).toHaveLength(3)
      const sorted = top_logprobs.map((top) => top.logprob).sort((a, b) => b - a)
      expect(top_logprobs.map((top) => top.logprob)).toEqual(sorted)
      expect(logprob).toBeLessThanOrEqual(sorted[0]!)
      expect(new TextDecoder().decode(Uint8Array.from(bytes!))).toBe(token)
    }
  })

  it('are null unless asked for, and sum up to 1 over the vocabulary', () => {
    expect(choiceOf({ max_tokens: 2 }).pieces.every(({ logprobs }) => logprobs === null)).toBe(true)
    const [first] = choiceOf({ logprobs: true, top_logprobs: -1, max_tokens: 1 }).logprobs
    const sum = first!.top_logprobs.reduce((total, { logprob }) => total + Math.exp(logprob), 0)
    expect(first!.top_logprobs).toHaveLength(SIZES.vocab)
    expect(sum).toBeCloseTo(1, 5)
  })
})

describe('n choices', () => {
  const fields = { ignore_eos: true, max_tokens: 12 }

  it('all come to an end, in order each', () => {
    const deltas = run({ ...fields, n: 10 })
    for (let index = 0; index < 10; index++) {
      const pieces = deltas.filter((delta) => delta.type === 'choice' && delta.index === index)
      expect(pieces).toHaveLength(12)
      expect(pieces.at(-1)).toMatchObject({ finish_reason: 'length' })
    }
  })

  it('differ, and each is the same whatever n is', () => {
    const texts = [0, 1, 2, 3, 4, 5].map((index) => choiceOf({ ...fields, n: 6 }, index).text)
    expect(new Set(texts).size).toBe(6)
    expect(choiceOf(fields).text).toBe(texts[0])
    expect(choiceOf({ ...fields, n: 2 }, 1).text).toBe(texts[1])
  })
})

describe('a seed', () => {
  const fields = { ignore_eos: true, max_tokens: 20 }

  it('repeats an answer', () => {
    expect(choiceOf({ ...fields, seed: -5 }).text).toBe(choiceOf({ ...fields, seed: -5 }).text)
    expect(choiceOf({ ...fields, seed: -5 }).text).not.toBe(choiceOf({ ...fields, seed: 5 }).text)
  })

  it('holds while other completions take turns', () => {
    // Other prompts, so that nothing of one could pass for that of another.
    const requests = ['one', 'two', 'three'].map((content, seed) => ({
      ...fields,
      seed,
      messages: [{ role: 'user', content }],
    }))
    const alone = requests.map((request) => choiceOf(request).text)
    const generations = requests.map((request) => begin(engine, request))
    const texts = ['', '', '']
    const passSizes: number[] = []
    const asked = generations.map((generation) => advance(engine, generation, null).asked)
    while (asked.some((parts) => parts !== null)) {
      // As many of them in one pass as fit, in another order each time.
      let room = 32
      const chosen = [0, 1, 2].toReversed().filter((i) => {
        const rows = asked[i]?.reduce((sum, { ids }) => sum + ids.length, 0) ?? 99
        if (rows > room) return false
        room -= rows
        return true
      })
      passSizes.push(chosen.length)
      const logits = engine.transformer.run(chosen.flatMap((i) => asked[i] ?? []))
      let at = 0
      for (const i of chosen) {
        const own = logits.slice(at, at + asked[i]!.length)
        at += own.length
        const { done, value } = generations[i]!.next(own)
        for (const delta of done ? value : value.deltas) {
          if (delta.type === 'choice') texts[i] += delta.content
        }
        asked[i] = done ? null : value.parts
      }
    }
    expect(Math.max(...passSizes)).toBe(3)
    expect(texts).toEqual(alone)
  })
})
