import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Timestamp } from '../../src/schemas/primitives.ts'
import { parseTimestampUs, renderTimestamp, timestampUs } from '../../src/schemas/timestamp.ts'
import { codePoint } from '../support/code-point.ts'

const MIN_US = Date.UTC(1900, 0, 1) * 1000
const MAX_US = Date.UTC(2255, 0, 1) * 1000 - 1
const us = fc.integer({ min: MIN_US, max: MAX_US })
const pad = (value: number) => String(value).padStart(2, '0')

describe('times on the wire', () => {
  it('come back from their text to the microsecond, in all the years', () => {
    fc.assert(
      fc.property(us, (time) => {
        const text = renderTimestamp(time)
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
        expect(parseTimestampUs(text)).toBe(time)
      }),
      { examples: [[MIN_US], [MAX_US], [-1], [0], [1]] },
    )
  })

  it('are in the order of their texts', () => {
    fc.assert(
      fc.property(us, us, (a, b) => {
        expect(renderTimestamp(a) < renderTimestamp(b)).toBe(a < b)
      }),
    )
  })

  it('agree with Date to the millisecond', () => {
    fc.assert(
      fc.property(us, (time) => {
        const ms = Math.floor(time / 1000)
        expect(parseTimestampUs(new Date(ms).toISOString())).toBe(ms * 1000)
        expect(Date.parse(renderTimestamp(ms * 1000))).toBe(ms)
      }),
    )
  })

  it('mean the same with any offset', () => {
    const offset = fc.record({
      sign: fc.constantFrom('+', '-'),
      hours: fc.integer({ min: 0, max: 23 }),
      minutes: fc.integer({ min: 0, max: 59 }),
      colon: fc.constantFrom(':', ''),
    })
    const inner = fc.integer({ min: MIN_US + 864e8, max: MAX_US - 864e8 })
    fc.assert(
      fc.property(inner, offset, (time, { sign, hours, minutes, colon }) => {
        const shift = (sign === '+' ? 1 : -1) * (hours * 60 + minutes) * 60_000_000
        const local = renderTimestamp(time + shift).slice(0, -1)
        const text = `${local}${sign}${pad(hours)}${colon}${pad(minutes)}`
        expect(parseTimestampUs(text)).toBe(time)
      }),
    )
  })

  it('are UTC without an offset', () => {
    fc.assert(
      fc.property(us, (time) => {
        expect(parseTimestampUs(renderTimestamp(time).slice(0, -1))).toBe(time)
      }),
    )
  })

  it('keep six digits of a fraction of any length and cut the rest', () => {
    fc.assert(
      fc.property(us, fc.stringMatching(/^\d{1,18}$/), (time, digits) => {
        const second = Math.floor(time / 1_000_000) * 1_000_000
        const text = renderTimestamp(second).replace('.000000', `.${digits}`)
        expect(parseTimestampUs(text)).toBe(second + Number(digits.padEnd(6, '0').slice(0, 6)))
      }),
    )
  })

  it('exist for exactly the days of the calendar', () => {
    const day = fc.integer({ min: 0, max: 40 })
    const month = fc.integer({ min: 0, max: 14 })
    fc.assert(
      fc.property(fc.integer({ min: 1900, max: 2254 }), month, day, (y, m, d) => {
        const date = new Date(Date.UTC(y, m - 1, d))
        const exists = date.getUTCMonth() === m - 1 && date.getUTCDate() === d && m > 0
        const parsed = parseTimestampUs(`${y}-${pad(m)}-${pad(d)}T00:00:00Z`)
        expect(parsed).toBe(exists ? date.getTime() * 1000 : null)
      }),
    )
  })

  it.each([
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000000Z'],
    ['2026-01-31 09:30:00.5', '2026-01-31T09:30:00.500000Z'],
    ['2026-01-31T09:30:00,25Z', '2026-01-31T09:30:00.250000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000Z'],
    ['1900-01-01T00:00:00Z', '1900-01-01T00:00:00.000000Z'],
    ['2254-12-31T23:59:59.999999Z', '2254-12-31T23:59:59.999999Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000000Z'],
  ])('read %s as %s', (text, expected) => {
    expect(renderTimestamp(timestampUs(text))).toBe(expected)
    expect(Timestamp.safeParse(text).success).toBe(true)
  })

  it.each([
    '',
    'now',
    '2026',
    '2026-01-31',
    '2026-01-31T09',
    '2026-01-31T09:30',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00ZZ',
    '2026-01-31T09:30:00 Z',
    '2026-01-31T09:30:00Z\n',
    ' 2026-01-31T09:30:00Z',
    '2026-1-31T09:30:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T00:00:00+1',
    '1899-12-31T23:59:59Z',
    '2255-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '-002026-01-01T00:00:00Z',
    '+012026-01-01T00:00:00Z',
    '２０２６-01-01T00:00:00Z',
    '1767225600',
    `2026-01-01T00:00:00.${'1'.repeat(60)}Z`,
  ])('do not read %j', (text) => {
    expect(parseTimestampUs(text)).toBeNull()
    expect(Timestamp.safeParse(text).success).toBe(false)
    expect(() => timestampUs(text)).toThrow(TypeError)
  })

  it('stay inside the years 1900 to 2254 whatever the offset', () => {
    for (const text of ['1900-01-01T00:00:00+23:59', '2254-12-31T23:59:60-23:59']) {
      expect(parseTimestampUs(text)).toBeNull()
    }
  })

  it('are read from any text without a throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => {
        const time = parseTimestampUs(text)
        expect(time === null || Number.isSafeInteger(time)).toBe(true)
      }),
    )
  })
})
