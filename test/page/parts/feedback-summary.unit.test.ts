import { describe, expect, it, vi } from 'vitest'
import { printMembers, summaryOf } from '../../../src/page/parts/calls/feedback-summary.ts'

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined }))

const given = (feedback_type: string, payload: Record<string, unknown>) => ({
  feedback_type,
  payload,
})

describe('the summary of feedback', () => {
  it('counts reactions, names scorers and members of payloads, and leaves tags out', () => {
    const feedback = [
      given('wandb.reaction.1', { emoji: '👍' }),
      given('wandb.reaction.1', { emoji: '👍' }),
      given('weft.tag', { tag: 'checked' }),
      given('rating', { stars: 4, polite: true }),
      given('wandb.runnable.judge', { output: { passed: true, detail: { length: 47 } } }),
      given('wandb.runnable.exact', { output: 0.5 }),
      given('note.1', { note: 'Asked again.' }),
    ]
    expect(summaryOf(feedback)).toBe(
      '👍 2 · rating stars 4, polite true · judge passed true, length 47 · exact 0.5 · Asked again.',
    )
  })

  it.each([
    ['a number', 0.5, '0.5'],
    ['a text', 'fine', 'fine'],
    ['a list', { spans: [1, 2] }, '{"spans":[1,2]}'],
    ['nothing', {}, '{}'],
    [
      'nine members',
      Object.fromEntries([...'abcdefghi'].map((name) => [name, 1])),
      '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}',
    ],
  ])('prints %s as it is', (_what, value, words) => expect(printMembers(value)).toBe(words))
})
