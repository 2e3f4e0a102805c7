import { describe, expect, it } from 'vitest'
import type { StatsResponse } from '../../../src/page/api/wire.ts'
import { linesByModel, sumOf } from '../../../src/page/home/series.ts'

const AT = '2026-01-31T09:00:00.000000Z'
const LATER = '2026-01-31T10:00:00.000000Z'

/** A bucket with calls of each model, and one without. */
function answerOf(
  models: Readonly<Record<string, readonly [number, number | null]>>,
): StatsResponse {
  const usage_buckets = Object.entries(models).flatMap(
    ([model, [sum_total_tokens, sum_total_cost]]) => [
      { timestamp: AT, model, count: 1, sum_total_tokens, sum_total_cost },
      { timestamp: LATER, model, count: 0, sum_total_tokens: 0, sum_total_cost: 0 },
    ],
  )
  const call_buckets = [AT, LATER].map((timestamp) => ({ timestamp, count: 1 }))
  return { usage_buckets, call_buckets } as unknown as StatsResponse
}

describe('lines of models', () => {
  const answer = answerOf({
    cheap: [900, 1],
    small: [800, null],
    mid: [700, 2],
    e: [60, 3],
    f: [50, 4],
    dear: [40, 50],
    tiny: [30, 0.5],
  })
  const tokens = linesByModel(answer, 'sum_total_tokens')
  const costs = linesByModel(answer, 'sum_total_cost', tokens)
  const colors = new Map(tokens.map(({ label, color }) => [label, color]))

  it('leave out models without a value', () => {
    expect(costs.map(({ label }) => label)).toEqual([
      'dear',
      'f',
      'e',
      'mid',
      'cheap',
      'other models',
    ])
    expect(sumOf(costs)).toBe(60.5)
    expect(linesByModel(answerOf({ small: [800, null] }), 'sum_total_cost')).toEqual([])
  })

  it('have one colour for a model in both charts, and different ones for different models', () => {
    for (const { label, color } of costs)
      if (colors.has(label)) expect(color).toBe(colors.get(label))
    expect(new Set(costs.map(({ color }) => color)).size).toBe(costs.length)
    expect(costs.at(0)?.color).toBe(colors.get('small'))
  })
})
