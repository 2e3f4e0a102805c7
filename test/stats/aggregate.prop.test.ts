import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccumulator } from '../../src/domain/stats/aggregate.ts'
import { createOrderStatistics } from '../../src/domain/stats/order-statistics.ts'

const integers = fc.array(
  fc.integer({ min: 0, max: 5 }).map((n) => n * n),
  { maxLength: 300 },
)

function fill(values: readonly (number | bigint)[], unitsPerOne = 1) {
  const accumulator = createAccumulator(unitsPerOne, true)
  for (const value of values) accumulator.add(value)
  return accumulator
}

describe('createAccumulator', () => {
  it('every percentile equals that of a sorted list', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1e9 }), { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (values, percent) => {
          const sorted = values.toSorted((a, b) => a - b)
          const rank = (percent / 100) * (sorted.length - 1)
          const low = sorted[Math.floor(rank)] as number
          const high = sorted[Math.ceil(rank)] as number
          const found = fill(values).read(percent)
          expect(found).toBeCloseTo(low + (high - low) * (rank - Math.floor(rank)), 6)
        },
      ),
    )
  })

  it('sums, extremes and counts equal naive ones', () => {
    fc.assert(
      fc.property(integers, (values) => {
        const accumulator = fill(values)
        const sum = values.reduce((total, value) => total + value, 0)
        expect(accumulator.read('sum')).toBe(sum)
        expect(accumulator.read('avg')).toBe(values.length === 0 ? 0 : sum / values.length)
        expect(accumulator.read('min')).toBe(values.length === 0 ? null : Math.min(...values))
        expect(accumulator.read('max')).toBe(values.length === 0 ? null : Math.max(...values))
        expect(accumulator.read('count')).toBe(values.length)
        expect(accumulator.read('count_true')).toBe(values.filter((value) => value === 1).length)
        expect(accumulator.read('count_false')).toBe(values.filter((value) => value === 0).length)
      }),
    )
  })

  it('numbers of both signs are summed exactly, and larger sums become the largest double', () => {
    const sumOf = (...values: number[]) => fill(values).read('sum')
    expect(sumOf(-1e308, 1e308, 0.5)).toBe(0.5)
    expect(sumOf(-(2 ** 53), -1, 2 ** 53)).toBe(-1)
    for (const sign of [-1, 1]) {
      const huge = fill([sign * 1e308, sign * 1e308, sign * 1e308])
      expect(huge.read('sum')).toBe(sign * Number.MAX_VALUE)
      expect(huge.read('avg')).toBe(sign * 1e308)
      const apart = fill([sign * 1.5e308, sign * -1.5e308])
      expect([apart.read(0), apart.read(50), apart.read(100)]).toEqual([-1.5e308, 0, 1.5e308])
    }
  })

  it('sums are exact in every order of the values, whatever their magnitude', () => {
    const one = (max: bigint) => fc.bigInt({ min: 0n, max })
    const large = fc.array(fc.oneof(one(2n ** 52n), one(2n ** 70n)), { maxLength: 50 })
    fc.assert(
      fc.property(large, (values) => {
        const measured = values.map((value) => (value < 2n ** 53n ? Number(value) : value))
        const exact = Number(values.reduce((total, value) => total + value, 0n))
        expect(fill(measured).read('sum')).toBe(exact)
        expect(fill(measured.toReversed()).read('sum')).toBe(exact)
        expect(fill(measured, 1e15).read('sum')).toBe(exact / 1e15)
        const added = createAccumulator(1, false)
        for (const value of measured) added.addSum(2, value)
        expect([added.read('sum'), added.read('count')]).toEqual([exact, 2 * values.length])
      }),
    )
  })

  it('a sum beyond 2^53 loses no token', () => {
    const accumulator = fill([Number.MAX_SAFE_INTEGER, 1, 1, 1])
    expect(accumulator.read('sum')).toBe(Number(2n ** 53n + 2n))
  })

  it('a reset empties an accumulator', () => {
    const accumulator = fill([5, 9, 2 ** 53, 1, 0])
    expect(accumulator.read(50)).toBe(5)
    accumulator.reset()
    expect(accumulator.read('sum')).toBe(0)
    expect(accumulator.read(50)).toBeNull()
    for (const value of [3, 1]) accumulator.add(value)
    expect([accumulator.read(0), accumulator.read(50), accumulator.read('min')]).toEqual([1, 2, 1])
  })
})

describe('createOrderStatistics', () => {
  it.each([
    [[7], 0, 7],
    [[7], 100, 7],
    [[1, 2], 50, 1.5],
    [[1, 2, 3, 4], 25, 1.75],
    [[10, 20, 30], 99.9, 29.98],
    [[10, 20, 30], 100, 30],
  ])('in %j percentile %d is %d', (values, percent, expected) => {
    const order = createOrderStatistics()
    order.addSorted(Float64Array.from(values))
    expect(order.percentile(percent)).toBeCloseTo(expected, 9)
  })

  it('percentiles of sorted runs equal those of unsorted values, whether searched or merged', () => {
    const value = fc.oneof(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    )
    const run = fc.array(value, { maxLength: 200 }).map((values) => Uint32Array.from(values).sort())
    fc.assert(
      fc.property(
        fc.array(run, { minLength: 1, maxLength: 6 }),
        fc.array(value, { maxLength: 5 }),
        fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 4 }),
        (runs, loose, percents) => {
          const all = [...runs.flatMap((values) => [...values]), ...loose]
          fc.pre(all.length > 0)
          const [inRuns, inOne] = [createOrderStatistics(), createOrderStatistics()]
          for (const sorted of runs) inRuns.addSorted(sorted)
          for (const one of loose) inRuns.add(one)
          for (const one of all) inOne.add(one)
          for (const percent of percents) {
            expect(inRuns.percentile(percent)).toBe(inOne.percentile(percent))
          }
        },
      ),
    )
  })
})
