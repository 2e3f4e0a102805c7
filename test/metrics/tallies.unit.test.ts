import { describe, expect, it } from 'vitest'
import { createCounter, createHistogram, renderGauge } from '../../src/metrics/tallies.ts'
import { parseMetrics } from './support/parse-metrics.ts'

describe('a histogram', () => {
  it('counts a value in each bucket that it fits, its bound included', () => {
    const histogram = createHistogram([1, 2], { name: 'a_seconds', help: 'A.', labels: ['kind'] })
    for (const value of [0.5, 1, 1.5, 3]) histogram.observe(['x'], value)
    const { samples } = parseMetrics(histogram.render()).get('a_seconds')!
    const values = samples.map(({ labels, value }) => [labels.le, value])
    expect(values).toEqual([
      ['1', 2],
      ['2', 3],
      ['+Inf', 4],
      [undefined, 6],
      [undefined, 4],
    ])
    expect(samples.every(({ labels }) => labels.kind === 'x')).toBe(true)
  })
})

describe('a counter', () => {
  it('is there before anything was counted where it has no labels', () => {
    const counter = createCounter({ name: 'a_total', help: 'A.' })
    expect(parseMetrics(counter.render()).get('a_total')?.samples).toMatchObject([{ value: 0 }])
  })

  it('counts what comes behind its limit of series as other', () => {
    const counter = createCounter({ name: 'a_total', help: 'A.', labels: ['x', 'y'] })
    for (let at = 0; at < 6000; at++) counter.add([`v${at}`, 'y'])
    const { samples } = parseMetrics(counter.render()).get('a_total')!
    expect(samples).toHaveLength(5001)
    expect(samples.at(-1)).toMatchObject({ labels: { x: 'other', y: 'other' }, value: 1000 })
  })
})

describe('a value of a label', () => {
  it('may hold any character', () => {
    const value = 'a"b\\c\nd,e="f"}'
    const text = renderGauge({ name: 'a', help: 'A.', labels: ['x'] }, [[[value], 1]])
    expect(parseMetrics(text).get('a')?.samples[0]?.labels.x).toBe(value)
  })
})
