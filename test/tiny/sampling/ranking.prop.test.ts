/** The ranking against an ordinary sort. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rank, rankOfId } from '../../../src/inference/tiny/sampling/ranking.ts'

/** Few different values among many, with both zeros and infinities, so that equal ones are common. */
const values = fc
  .array(
    fc.oneof(
      fc.constantFrom(0, -0, 1, -1, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 1e-45),
      fc.float({ noNaN: true }),
    ),
    { minLength: 1, maxLength: 300 },
  )
  .map((list) => Float32Array.from(list))

const sorted = (list: Float32Array): number[] =>
  [...list.keys()].sort((a, b) => {
    const [left, right] = [list[a]!, list[b]!]
    return left === right ? a - b : left < right ? 1 : -1
  })

describe('the ranking', () => {
  it('is that of a stable sort from the largest down, whole or only its beginning', () => {
    fc.assert(
      fc.property(values, fc.nat({ max: 310 }), (list, count) => {
        expect([...rank(list)]).toEqual(sorted(list))
        expect([...rank(list, count)]).toEqual(sorted(list).slice(0, count))
      }),
    )
  })

  it('tells the place of each token', () => {
    fc.assert(
      fc.property(values, (list) => {
        expect(sorted(list).map((id) => rankOfId(list, id))).toEqual([...list.keys()])
      }),
      { numRuns: 30 },
    )
  })
})
