import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUCKETS_MAX, buildBucketGrid } from '../../src/domain/stats/buckets.ts'
import { naiveBucketStartUs } from './support/naive-buckets.ts'

const ZONES = [
  'UTC',
  'America/New_York',
  'America/Havana',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Pacific/Chatham',
] as const
const LENGTHS = [1, 7, 60, 300, 1800, 3600, 5400, 7200, 10_800, 21_600, 43_200, 86_400] as const
const DAYS = [2, 3, 7, 14, 30] as const

const startMs = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2036, 0, 1) })
/** Instants near the changes of New York in 2026, where grids are hard. */
const changeMs = fc
  .tuple(
    fc.constantFrom(Date.UTC(2026, 2, 8, 7), Date.UTC(2026, 10, 1, 6)),
    fc.integer({ min: -40 * 3600e3, max: 40 * 3600e3 }),
  )
  .map(([at, shift]) => at + shift)
const granularity = fc.oneof(
  fc.constantFrom(...LENGTHS),
  fc.constantFrom(...DAYS).map((days) => days * 86_400),
  fc.integer({ min: 1, max: 400_000 }),
)
const cases = fc.record({
  startUs: fc.oneof(startMs, changeMs).map((ms) => ms * 1000),
  rangeUs: fc
    .oneof(fc.integer({ min: 0, max: 5 * 86_400 }), fc.integer({ min: 0, max: 400 * 86_400 }))
    .map((seconds) => seconds * 1e6 + 17),
  granularity: fc.option(granularity),
  zone: fc.constantFrom(...ZONES),
})

describe('buildBucketGrid', () => {
  it('buckets tile the window: ascending, the first contains the start, the last begins before the end', () => {
    fc.assert(
      fc.property(cases, ({ startUs, rangeUs, granularity, zone }) => {
        const endUs = startUs + rangeUs
        const { granularityS, startsUs } = buildBucketGrid({ startUs, endUs }, granularity, zone)
        expect(startsUs.length).toBeLessThanOrEqual(BUCKETS_MAX)
        expect(granularityS).toBeGreaterThanOrEqual(granularity ?? 0)
        expect(startsUs[0]).toBeLessThanOrEqual(startUs)
        expect(startsUs.at(-1)).toBeLessThan(endUs)
        for (let at = 1; at < startsUs.length; at++) {
          expect(startsUs[at]).toBeGreaterThan(startsUs[at - 1] as number)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('every instant falls into the same bucket as by the naive rule', () => {
    fc.assert(
      fc.property(
        cases,
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 20 }),
        ({ startUs, rangeUs, granularity, zone }, shares) => {
          const endUs = startUs + rangeUs
          const { granularityS, startsUs } = buildBucketGrid({ startUs, endUs }, granularity, zone)
          for (const share of [0, ...shares]) {
            const us = startUs + Math.floor(share * rangeUs)
            const found = startsUs.findLast((start) => start <= us)
            expect(found).toBe(naiveBucketStartUs(us, granularityS, zone))
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
