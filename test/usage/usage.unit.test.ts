import { describe, expect, it } from 'vitest'
import { readUsage } from '../../src/domain/usage/usage.ts'

describe('the total of a report', () => {
  const counts = { prompt_tokens: 10, completion_tokens: 5 }

  it.each([
    ['missing', counts, 15],
    ['null', { ...counts, total_tokens: null }, 15],
    ['told', { ...counts, total_tokens: 20 }, 20],
    ['no number', { ...counts, total_tokens: 'many' }, 15],
    ['less than its parts', { ...counts, total_tokens: 14 }, 15],
    ['a number as text', { ...counts, total_tokens: '20' }, 20],
  ])('that is %s', (_, usage, total_tokens) => {
    expect(readUsage({ usage: { m: usage } })).toMatchObject([{ total_tokens }])
  })
})
