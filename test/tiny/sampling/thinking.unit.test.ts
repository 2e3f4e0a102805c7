/** A thought that the model writes itself: asked for by a variable of the template, told from the answer. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { createChoiceWriter } from '../../../src/inference/tiny/sampling/choice-writer.ts'
import { planCompletion } from '../../../src/inference/tiny/sampling/completion-plan.ts'
import { choiceIn, type Fields } from '../running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const { tokenizer } = engine
const THINKING = { chat_template_kwargs: { enable_thinking: true } }
const WRITTEN = '<think>\nHot and cold.\n</think>\nCold it is.'

/** What a request's writer makes of tokens that spell a text. */
function write(text: string, fields: Fields, tokensMax = 100) {
  const request = { messages: [], logprobs: true, return_token_ids: true, ...fields }
  const plan = planCompletion(request, '', () => 0n)
  const writer = createChoiceWriter(tokenizer, plan, 0, tokensMax)
  const pieces = []
  for (const id of [...tokenizer.encode(text), ...tokenizer.endIds.slice(0, 1)]) {
    const piece = writer.write({ id, logprob: -1, top: [] }, false)
    pieces.push(piece)
    if (piece.finish_reason !== null) break
  }
  return choiceIn(pieces)
}

describe('a thought of the model', () => {
  it('is the reasoning when the template is told to make it think', () => {
    const { text, reasoning, tokens, ids, logprobs } = write(WRITTEN, THINKING)
    expect({ text, reasoning }).toEqual({ text: 'Cold it is.', reasoning: 'Hot and cold.' })
    expect(ids).toHaveLength(tokens)
    expect(logprobs).toHaveLength(tokens)
  })

  it('is a part of the text when nobody asked for it', () => {
    for (const fields of [{}, { chat_template_kwargs: { enable_thinking: false } }]) {
      expect(write(WRITTEN, fields)).toMatchObject({ text: WRITTEN, reasoning: '' })
    }
  })

  it('is hidden with include_reasoning false, text, ids and log-probabilities, and still counted', () => {
    const shown = write(WRITTEN, THINKING)
    const hidden = write(WRITTEN, { ...THINKING, include_reasoning: false })
    expect(hidden).toMatchObject({ text: 'Cold it is.', reasoning: '', tokens: shown.tokens })
    const said = hidden.logprobs.map(({ token }) => token).join('')
    expect(said).not.toContain('Hot')
    expect(said).toContain('Cold it is.')
    expect(hidden.ids).toHaveLength(hidden.logprobs.length)
  })

  it('can be all that max_tokens leaves of an answer, and stop strings end it', () => {
    const cut = write(WRITTEN, THINKING, 8)
    expect(cut).toMatchObject({ text: '', finish_reason: 'length' })
    expect('Hot and cold.'.startsWith(cut.reasoning)).toBe(true)
    const stopped = write(WRITTEN, { ...THINKING, stop: ' and' })
    expect(stopped).toMatchObject({ text: '', reasoning: 'Hot', stop_reason: ' and' })
  })

  it('takes the place of the script', () => {
    const plan = (fields: Fields) => planCompletion({ messages: [], ...fields }, '', () => 0n)
    expect(plan({ reasoning_effort: 'low' })).toMatchObject({ thought: null })
    const both = plan({ reasoning_effort: 'low', ...THINKING })
    expect(both).toMatchObject({ reasoning: null, thought: { isShown: true } })
  })
})
