import { describe, expect, it } from 'vitest'
import { atomsToNanos, periodOf, toNanos, toUsd } from '../../../src/domain/access/budgets.ts'
import { parseTimestampUs, renderTimestamp } from '../../../src/schemas/timestamp.ts'

describe('periodOf', () => {
  it.each([
    ['day', 'UTC', '2026-03-29T12:00:00Z', '2026-03-29T00:00:00', '2026-03-30T00:00:00'],
    // The day of a change of the clock has 23 hours.
    ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00', '2026-03-29T22:00:00'],
    ['week', 'UTC', '2026-03-29T23:59:59Z', '2026-03-23T00:00:00', '2026-03-30T00:00:00'],
    ['month', 'UTC', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00', '2027-01-01T00:00:00'],
    ['month', 'Asia/Tokyo', '2026-01-31T15:00:00Z', '2026-01-31T15:00:00', '2026-02-28T15:00:00'],
  ] as const)('%s of %s at %s', (period, zone, at, start, end) => {
    const { startUs, endUs } = periodOf({ period, zone }, parseTimestampUs(at) ?? 0)
    expect([startUs, endUs].map((us) => renderTimestamp(us).slice(0, 19))).toEqual([start, end])
  })

  it('a whole life never ends', () => {
    expect(periodOf({ period: 'life', zone: 'UTC' }, 5)).toEqual({
      startUs: 0,
      endUs: Number.POSITIVE_INFINITY,
    })
  })
})

describe('money', () => {
  it('decimals of dollars stay exact, and costs are rounded up', () => {
    expect([toNanos(0.1), toNanos(1_000_000), toNanos(0.000_000_001)]).toEqual([1e8, 1e15, 1])
    expect(toUsd(toNanos(999_999.123_456_789))).toBe(999_999.123_456_789)
    expect([atomsToNanos(0), atomsToNanos(1), atomsToNanos(1_000_001n)]).toEqual([0, 1, 2])
  })
})
