import { describe, expect, it } from 'vitest'
import {
  autoGranularityS,
  BUCKETS_MAX,
  buildBucketGrid,
  nextRoundS,
} from '../../src/domain/stats/buckets.ts'
import { createLocalClock, DAY_US } from '../../src/domain/time/local-clock.ts'
import { renderTimestamp, timestampUs } from '../../src/schemas/timestamp.ts'

const HOUR = 3600
const DAY = 86_400

function grid(start: string, end: string, granularity: number | null, timeZone = 'UTC') {
  const window = { startUs: timestampUs(start), endUs: timestampUs(end) }
  const { granularityS, startsUs } = buildBucketGrid(window, granularity, timeZone)
  const starts = [...startsUs].map((us) => renderTimestamp(us).replace(/:00(\.000000)?Z$/, 'Z'))
  return { granularityS, starts }
}

describe('autoGranularityS', () => {
  it.each([
    [0, 300],
    [2 * HOUR, 300],
    [2 * HOUR + 0.000001, HOUR],
    [12 * HOUR, HOUR],
    [12 * HOUR + 1, 6 * HOUR],
    [3 * DAY, 6 * HOUR],
    [3 * DAY + 1, 12 * HOUR],
    [14 * DAY, 12 * HOUR],
    [14 * DAY + 1, DAY],
    [3650 * DAY, DAY],
  ])('a window of %d s has buckets of %d s by default', (rangeS, granularityS) => {
    expect(autoGranularityS(Math.round(rangeS * 1e6))).toBe(granularityS)
  })
})

describe('nextRoundS', () => {
  it('each round length is followed by the next longer one', () => {
    const lengths: number[] = []
    for (let length = 0; length < 30 * DAY; length = nextRoundS(length)) lengths.push(length)
    expect(lengths).toEqual([
      ...[0, 1, 5, 10, 15, 30, 60, 300, 600, 900, 1800],
      ...[HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY, 14 * DAY, 21 * DAY, 28 * DAY],
    ])
  })
})

describe('buildBucketGrid', () => {
  it('the first bucket begins on the grid, at or before the start', () => {
    expect(grid('2026-01-01T10:07:30Z', '2026-01-01T10:15:00Z', 300).starts).toEqual([
      '2026-01-01T10:05Z',
      '2026-01-01T10:10Z',
    ])
  })

  it.each([
    ['2026-01-01T10:05:00Z', []],
    ['2026-01-01T10:06:00Z', ['2026-01-01T10:05Z']],
  ])('an empty window at %s has the buckets %j', (at, starts) => {
    expect(grid(at, at, 300).starts).toEqual(starts)
  })

  it.each([
    ['6 h on a day of 23', '2026-03-08', 6 * HOUR, 'America/New_York', [5, 10, 16, 22]],
    ['6 h on a day of 25', '2026-11-01', 6 * HOUR, 'America/New_York', [4, 11, 17, 23]],
    ['12 h on a day of 25', '2026-10-25', 12 * HOUR, 'Europe/Berlin', [-2, 11]],
    ['12 h on a day of 23', '2026-03-29', 12 * HOUR, 'Europe/Berlin', [-1, 10]],
    ['12 h on a day that shows midnight twice', '2026-11-01', 12 * HOUR, 'America/Havana', [4, 17]],
  ])('buckets follow the local clock by %s hours', (_name, day, length, zone, hours) => {
    const [startUs, endUs] = [timestampUs(`${day}T12:00:00Z`), timestampUs(`${day}T12:00:00Z`)]
    const clock = createLocalClock(zone, startUs, endUs)
    const date = clock.dayOf(startUs)
    const window = { startUs: clock.startOfDayUs(date), endUs: clock.startOfDayUs(date + 1) }
    const { startsUs } = buildBucketGrid(window, length, zone)
    const midnightUs = timestampUs(`${day}T00:00:00Z`)
    expect([...startsUs].map((us) => (us - midnightUs) / 3600e6)).toEqual(hours)
  })

  it('an hour that the clock shows twice becomes two buckets', () => {
    const { starts } = grid('2026-10-24T23:00:00Z', '2026-10-25T03:00:00Z', HOUR, 'Europe/Berlin')
    expect(starts.map((start) => start.slice(11, 16))).toEqual(['23:00', '00:00', '01:00', '02:00'])
    const twos = grid('2026-10-24T22:00:00Z', '2026-10-25T04:00:00Z', 2 * HOUR, 'Europe/Berlin')
    expect(twos.starts.map((start) => start.slice(11, 16))).toEqual(['22:00', '00:00', '03:00'])
  })

  it('day buckets are local days across a change of clocks', () => {
    const { starts } = grid('2026-03-07T12:00:00Z', '2026-03-10T00:00:00Z', DAY, 'America/New_York')
    expect(starts).toEqual(['2026-03-07T05:00Z', '2026-03-08T05:00Z', '2026-03-09T04:00Z'])
  })

  it('week buckets begin on the local Monday', () => {
    const { starts } = grid(
      '2026-01-01T00:00:00Z',
      '2026-01-13T00:00:00Z',
      7 * DAY,
      'Asia/Kathmandu',
    )
    expect(starts).toEqual(['2025-12-28T18:15Z', '2026-01-04T18:15Z', '2026-01-11T18:15Z'])
  })

  it('buckets of other numbers of days are counted from a fixed Monday, whatever the window', () => {
    const late = grid('2026-01-20T00:00:00Z', '2026-02-01T00:00:00Z', 3 * DAY).starts
    const early = grid('2026-01-02T00:00:00Z', '2026-02-01T00:00:00Z', 3 * DAY).starts
    expect(early.slice(-late.length)).toEqual(late)
  })

  it('lengths that do not divide a day start at the epoch in every zone', () => {
    const { starts } = grid('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', 7 * HOUR, 'Asia/Tokyo')
    expect(
      starts.map((start) => (timestampUs(start.replace('Z', ':00Z')) / 1e6) % (7 * HOUR)),
    ).toEqual(starts.map(() => 0))
  })

  it('a day that a zone skipped has no bucket', () => {
    const { starts } = grid('2011-12-29T12:00:00Z', '2012-01-01T10:00:00Z', DAY, 'Pacific/Apia')
    expect(starts).toEqual(['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'])
    const parts = grid('2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z', 12 * HOUR, 'Pacific/Apia')
    expect(parts.starts).toEqual([
      '2011-12-29T10:00Z',
      '2011-12-29T22:00Z',
      '2011-12-30T10:00Z',
      '2011-12-30T22:00Z',
      '2011-12-31T10:00Z',
    ])
  })

  it('a day without midnight begins at the change of clocks', () => {
    const { starts } = grid(
      '2018-11-03T12:00:00Z',
      '2018-11-05T12:00:00Z',
      DAY,
      'America/Sao_Paulo',
    )
    expect(starts).toEqual(['2018-11-03T03:00Z', '2018-11-04T03:00Z', '2018-11-05T02:00Z'])
  })

  it('an instant in an hour repeated around midnight is in the right bucket', () => {
    // At 00:01 the clocks went back to 23:01 of the day before.
    const clock = createLocalClock(
      'America/St_Johns',
      timestampUs('2006-10-01T00:00:00Z'),
      timestampUs('2006-11-30T00:00:00Z'),
    )
    const midnightUs = timestampUs('2006-10-29T02:30:00Z')
    const day = clock.dayOf(midnightUs)
    expect(clock.startOfDayUs(day)).toBe(midnightUs)
    expect(clock.dayOf(midnightUs + 30 * 60e6)).toBe(day)
    expect(clock.dayOf(midnightUs - 1)).toBe(day - 1)
    expect(clock.startOfDayUs(day + 1) - midnightUs).toBe(DAY_US + 3600e6)
  })

  it.each([
    ['one second over a day', '2026-01-02T00:00:00Z', 1, 10],
    ['one second over a year', '2027-01-01T00:00:00Z', 1, HOUR],
    ['a minute over 30 days', '2026-01-31T00:00:00Z', 60, 300],
    ['a length that is not round', '2026-01-02T00:00:00Z', 7, 10],
    ['one second over exactly 10,000', '2026-01-01T02:46:40Z', 1, 1],
    ['one second over one more', '2026-01-01T02:46:41Z', 1, 5],
    ['days over a hundred years', '2126-01-01T00:00:00Z', DAY, 7 * DAY],
    ['days over all years', '2254-01-01T00:00:00Z', DAY, 14 * DAY, '1900-01-01T00:00:00Z'],
  ])('§8 calls stats: widens %s', (_name, end, requested, used, start = '2026-01-01T00:00:00Z') => {
    const { granularityS, starts } = grid(start, end, requested)
    expect(granularityS).toBe(used)
    expect(starts.length).toBeLessThanOrEqual(BUCKETS_MAX)
  })
})
