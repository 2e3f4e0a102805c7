import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSampled, resultId } from '../../src/domain/evaluators/evaluator.ts'

const SHARE = fc.double({ min: 0, max: 1, noNaN: true })

describe('the sampling of traces', () => {
  it('is the same each time, and a greater share has all of a smaller one', () => {
    fc.assert(
      fc.property(fc.string(), SHARE, SHARE, (trace, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        expect(isSampled(trace, less)).toBe(isSampled(trace, less))
        if (isSampled(trace, less)) expect(isSampled(trace, more)).toBe(true)
      }),
    )
  })

  it('has all traces of the share 1, none of 0', () => {
    fc.assert(
      fc.property(fc.string(), (trace) => {
        expect([isSampled(trace, 1), isSampled(trace, 0)]).toEqual([true, false])
      }),
    )
  })

  it('is near its share, within five deviations', () => {
    const count = 20_000
    for (const share of [0.01, 0.1, 0.5, 0.9]) {
      const names = Array.from({ length: count }, (_, at) => `trace-${at}`)
      const found = names.filter((name) => isSampled(name, share)).length
      const deviation = Math.sqrt(count * share * (1 - share))
      expect(Math.abs(found - count * share)).toBeLessThan(5 * deviation)
    }
  })
})

it('the id of a result is a UUID of the evaluator, its version and its subject', () => {
  const id = resultId({ id: 'e', version: 1 }, 'call')
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(resultId({ id: 'e', version: 1 }, 'call')).toBe(id)
  expect(resultId({ id: 'e', version: 2 }, 'call')).not.toBe(id)
  expect(resultId({ id: 'e', version: 1 }, 'other')).not.toBe(id)
})
