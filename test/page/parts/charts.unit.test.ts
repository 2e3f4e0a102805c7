import { describe, expect, it, vi } from 'vitest'
import { limitsOf, nameDuration, nameTimes, stepsOf } from '../../../src/page/parts/charts/axes.ts'
import {
  bucketAt,
  endOf,
  endOfResponse,
  middlesOf,
} from '../../../src/page/parts/charts/buckets.ts'
import { pointsOf } from '../../../src/page/parts/charts/line.ts'
import {
  formatCost,
  formatExactTime,
  formatNumber,
  formatShort,
} from '../../../src/page/parts/format.ts'

// Formats read the zone that a browser has stored.
vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined }))

const HOUR_MS = 3_600_000

const lineOf = (...values: (number | null)[]) => [{ label: 'a', values }]

describe('the buckets of a chart', () => {
  it('end with the last one, by default as long as the one before', () => {
    expect(endOf([10, 20, 30], 35)).toBe(35)
    expect(endOf([10, 20, 30])).toBe(40)
    expect(endOf([10])).toBe(11)
  })

  it('cover all positions from their start to the next, with their point in the middle', () => {
    const times = [10, 20, 40]
    expect(middlesOf(times, 50)).toEqual([15, 30, 45])
    const places = [9, 10, 19.9, 20, 39.9, 40, 50]
    expect(places.map((place) => bucketAt(times, place))).toEqual([0, 0, 0, 1, 1, 2, 2])
  })
})

/** The ticks from 0 in a step, as many as a chart has at most. */
const ticksOf = (step: number) =>
  Array.from({ length: 6 }, (_, at) => Number((at * step).toPrecision(12)))

describe('the points of a line', () => {
  it('are at each of few steps, and at isolated values of all other lines', () => {
    const values = [1, 2, null, 4, null, 6, 7]
    expect([pointsOf(values, true), pointsOf(values, false)]).toEqual([null, [3]])
    const many = Array.from({ length: 600 }, (_, at) => (at === 2 || at === 4 ? null : at))
    expect(pointsOf(many, true)).toEqual([3])
  })
})

describe('the vertical axis of a chart', () => {
  it('has whole steps for whole numbers', () => {
    expect(stepsOf(lineOf(0, null, 1), false).filter((step) => step < 10)).toEqual([1, 2, 5])
    expect(stepsOf(lineOf(0.5, 1), false)).toContain(0.2)
  })

  it('has steps of clocks for durations', () => {
    const steps = stepsOf(lineOf(1), true)
    const some = steps.filter((step) => step >= 500 && step <= 20 * HOUR_MS).map(nameDuration)
    expect(some.join(', ')).toBe(
      '500 ms, 1 s, 2 s, 5 s, 10 s, 15 s, 30 s, 1 min, 2 min, 5 min, 10 min, 15 min, 30 min, 1 h, 2 h, 5 h, 10 h, 20 h',
    )
    expect([0, 0.2, 1500, 90_000, 1.5 * HOUR_MS, 100 * HOUR_MS].map(nameDuration)).toEqual([
      ...['0 ms', '0.2 ms', '1.5 s', '1 min 30 s', '1 h 30 min', '100 h'],
    ])
  })

  it('names each tick differently', () => {
    const decimals = stepsOf(lineOf(0.5), false).filter((step) => step > 1e-9 && step < 1e12)
    const named = [
      ...decimals.flatMap((step) => [formatNumber, formatCost].map((name) => ({ step, name }))),
      ...stepsOf(lineOf(1), false)
        .filter((step) => step < 1e14)
        .map((step) => ({ step, name: formatShort })),
      ...stepsOf(lineOf(1), true)
        .filter((step) => step > 1e-6 && step < 1e14)
        .map((step) => ({ step, name: nameDuration })),
    ]
    for (const { step, name } of named)
      expect(new Set(ticksOf(step).map(name)).size, `${name.name} by ${step}`).toBe(6)
  })

  it('ends at 1 when all values are 0', () => {
    expect(limitsOf(0, 0)).toEqual([0, 1])
    expect(limitsOf(2, 10)).toEqual([0, 11])
    expect(limitsOf(-10, -5)).toEqual([-11, 0])
  })
})

describe('the times of a chart', () => {
  const inZone = (timeZone: string) =>
    vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue({
      ...new Intl.DateTimeFormat().resolvedOptions(),
      timeZone,
    })
  const from = (start: string, minutes: number, count: number) =>
    Array.from({ length: count }, (_, at) => Date.parse(start) / 1000 + at * minutes * 60)

  it.each([
    ...[
      ['Europe/Berlin', '2026-10-24T23:00:00Z', 60, ['01:00', '02:00\n+2', '02:00\n+1', '03:00']],
    ],
    ...[
      ['America/St_Johns', '2026-11-01T02:30:00Z', 60, ['11-01', '01:00\n−2:30', '01:00\n−3:30']],
    ],
    ...[
      ['Australia/Lord_Howe', '2026-04-04T14:30:00Z', 30, ['01:30\n+11', '01:30\n+10:30', '02:00']],
    ],
    ...[['UTC', '2026-10-25T00:00:00Z', 60, ['10-25', '01:00', '02:00']]],
  ] as [string, string, number, string[]][])(
    'have an offset in %s where the clock shows them twice',
    (zone, start, minutes, names) => {
      const zones = inZone(zone)
      expect(nameTimes(from(start, minutes, names.length))).toEqual(names)
      zones.mockRestore()
    },
  )

  it('are told apart where they are read out', () => {
    const zones = inZone('Europe/Berlin')
    const hours = from('2026-10-25T00:00:00Z', 60, 3)
    expect(hours.map((time) => formatExactTime(time * 1000))).toEqual([
      ...['2026-10-25 02:00:00 +2', '2026-10-25 02:00:00 +1', '2026-10-25 03:00:00'],
    ])
    zones.mockRestore()
  })
})

describe('the last bucket of a chart', () => {
  it.each([
    ['one alone', ['2026-06-01T00:00:00Z'], 10, '2026-06-01T00:00:05Z', '2026-06-01T00:00:10Z'],
    [
      ...['after a day of 23 hours', ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z']],
      ...[86_400, '2026-03-30T12:00:00Z', '2026-03-30T22:00:00Z'],
    ],
    [
      ...['a day of 25 hours', ['2026-10-23T22:00:00Z', '2026-10-24T22:00:00Z']],
      ...[86_400, '2026-10-25T23:00:00Z', '2026-10-25T23:00:00Z'],
    ],
  ] as [string, string[], number, string, string][])(
    'ends where it does: %s',
    (_name, starts, granularity, end, expected) => {
      const times = starts.map((start) => Date.parse(start) / 1000)
      expect(endOfResponse(times, { granularity, end }) * 1000).toBe(Date.parse(expected))
    },
  )
})
