/** Fields that shape what is said about the tokens: ids, log-probabilities, special tokens, bad words. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { PromptDelta } from '../../src/inference/backend.ts'
import { TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import { createEngine } from '../../src/inference/tiny/host/engine.ts'
import { createKvCache } from '../../src/inference/tiny/model/kv-cache.ts'
import { createTextAssembler } from '../../src/inference/tiny/text/text-assembler.ts'
import { begin, choiceOf, type Fields, run } from './running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const { tokenizer } = engine
const ask = (fields: Fields) => ({
  messages: [{ role: 'user', content: 'What is the opposite of hot?' }],
  temperature: 0,
  ...fields,
})
const END = tokenizer.controlId('<|im_end|>')!

describe('token ids', () => {
  it('are those of the prompt and of each piece, the end included', () => {
    const [prompt] = run(engine, ask({ return_token_ids: true })) as [PromptDelta]
    const { ids, text, tokens } = choiceOf(engine, ask({ return_token_ids: true }))
    expect(prompt.promptIds).toHaveLength(prompt.promptTokens)
    expect(ids).toHaveLength(tokens)
    expect(ids.at(-1)).toBe(END)
    const bytes = ids.slice(0, -1).map((id) => tokenizer.bytesOf(id))
    expect(Buffer.concat(bytes).toString()).toBe(text)
  })

  it('are left out unless asked for', () => {
    const [prompt] = run(engine, ask({})) as [PromptDelta]
    expect(prompt.promptIds).toBeUndefined()
    expect(choiceOf(engine, ask({})).pieces.every(({ tokenIds }) => tokenIds === undefined)).toBe(
      true,
    )
  })

  it('name tokens in log-probabilities with return_tokens_as_token_ids', () => {
    const fields = ask({ logprobs: true, top_logprobs: 2, return_token_ids: true })
    const { logprobs, ids } = choiceOf(engine, { ...fields, return_tokens_as_token_ids: true })
    expect(logprobs.map(({ token }) => token)).toEqual(ids.map((id) => `token_id:${id}`))
    for (const { token, top_logprobs } of logprobs) expect(top_logprobs[0]?.token).toBe(token)
  })
})

describe('prompt_logprobs', () => {
  const prompt = (fields: Fields) => run(engine, ask(fields))[0] as PromptDelta

  it('have one entry per prompt token, the first null, and rank from 1', () => {
    const { promptLogprobs = [], promptIds = [] } = prompt({
      prompt_logprobs: 3,
      return_token_ids: true,
    })
    expect(promptLogprobs).toHaveLength(promptIds.length)
    expect(promptLogprobs[0]).toBeNull()
    for (const [place, entry] of promptLogprobs.entries()) {
      if (entry === null) continue
      const own = entry[`${promptIds[place]}`]
      expect(own).toBeDefined()
      const ranks = Object.values(entry).map(({ rank }) => rank)
      expect(ranks).toEqual(expect.arrayContaining([1, 2, 3]))
      expect(ranks.length).toBe(own!.rank > 3 ? 4 : 3)
    }
  })

  it('are those of the model: a pass over the tokens before gives them', () => {
    const { promptLogprobs = [], promptIds = [] } = prompt({
      prompt_logprobs: 0,
      return_token_ids: true,
      temperature: 2,
      logit_bias: { 5: 50 },
      max_tokens: 1,
    })
    const cache = createKvCache(engine.shape)
    for (let place = 0; place + 1 < promptIds.length; place++) {
      const ids = [promptIds[place]!]
      const logits = [...engine.transformer.run([{ ids, cache, wants: 'last' }])[0]![0]!]
      const max = Math.max(...logits)
      const sum = logits.reduce((total, logit) => total + Math.exp(logit - max), 0)
      const next = promptIds[place + 1]!
      const entry = promptLogprobs[place + 1]?.[`${next}`]
      expect(Object.keys(promptLogprobs[place + 1]!)).toHaveLength(1)
      expect(entry?.logprob).toBeCloseTo(logits[next]! - max - Math.log(sum), 4)
      expect(entry?.rank).toBe(logits.filter((logit) => logit > logits[next]!).length + 1)
    }
  })

  it('come with echo and logprobs too, unless the answer is streamed', () => {
    const fields = { echo: true, logprobs: true, top_logprobs: 1 }
    expect(prompt(fields).promptLogprobs).toHaveLength(prompt(fields).promptTokens)
    expect(prompt({ ...fields, stream: true }).promptLogprobs).toBeUndefined()
    expect(prompt({ echo: true }).promptLogprobs).toBeUndefined()
  })
})

describe('special tokens', () => {
  it('are shown when they are not skipped', () => {
    const fields = ask({ ignore_eos: true, max_tokens: 12 })
    expect(choiceOf(engine, fields).text).not.toContain('<|im_end|>')
    const shown = choiceOf(engine, { ...fields, skip_special_tokens: false }).text
    expect(shown).toContain(' <|im_end|>')
    const close = { ...fields, skip_special_tokens: false, spaces_between_special_tokens: false }
    expect(choiceOf(engine, close).text).toMatch(/[^ ]<\|im_end\|>/)
  })

  it('that end the answer stay hidden unless the stop is included', () => {
    const fields = ask({ skip_special_tokens: false })
    expect(choiceOf(engine, fields).text).not.toContain('<|im_end|>')
    const included = { ...fields, include_stop_str_in_output: true }
    expect(choiceOf(engine, included).text).toMatch(/<\|im_end\|>$/)
  })

  it('are set apart by single spaces, inside of the text only', () => {
    const spaced = createTextAssembler(tokenizer, { areSkipped: false, areSpaced: true })
    const [a, b] = [...tokenizer.encode('a'), ...tokenizer.encode('b')]
    const ids = [END, END, a!, b!, END, a!]
    const pieces = ids.map((id) => spaced.push(id))
    expect(pieces.join('')).toBe('<|im_end|> <|im_end|> ab <|im_end|> a')
  })

  it('end a character that is not whole', () => {
    const text = createTextAssembler(tokenizer, { areSkipped: false, areSpaced: false })
    const [first] = tokenizer.encode('€').filter((id) => tokenizer.bytesOf(id).length === 1)
    expect(text.push(first!) + text.push(END) + text.flush()).toBe('\ufffd<|im_end|>')
  })
})

describe('bad_words', () => {
  it('are not generated, neither as one token nor as several', () => {
    expect(choiceOf(engine, ask({})).text).toContain('cold')
    expect(choiceOf(engine, ask({ bad_words: ['cold'] })).text).not.toContain('cold')
    const whole = choiceOf(engine, ask({})).text
    const long = whole.slice(0, whole.indexOf('cold') + 4)
    expect(tokenizer.encode(long).length).toBeGreaterThan(3)
    expect(choiceOf(engine, ask({ bad_words: [long] })).text.startsWith(long)).toBe(false)
  })

  it('are found with and without a space before them', () => {
    const word = choiceOf(engine, ask({})).text.match(/ (cold)/)?.[1]
    expect(word).toBeDefined()
    for (const bad of [word!, ` ${word}`]) {
      expect(choiceOf(engine, ask({ bad_words: [bad] })).text).not.toContain(word)
    }
  })

  it('are spelt one in a step: a thousand long ones would hold up all other requests', () => {
    const generation = begin(engine, ask({ bad_words: ['a', 'b', 'c'], max_tokens: 2 }))
    const parts: number[] = []
    let step = generation.next([])
    while (!step.done) {
      parts.push(step.value.parts.length)
      const logits = step.value.parts.length === 0 ? [] : engine.transformer.run(step.value.parts)
      step = generation.next(logits)
    }
    expect(parts.filter((count) => count === 0)).toHaveLength(3)
  })

  it('change nothing when nothing of them would come', () => {
    expect(choiceOf(engine, ask({ bad_words: ['zebra'] }))).toEqual(choiceOf(engine, ask({})))
  })
})
