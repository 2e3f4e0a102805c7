/** Numbers and times as people read them. */
import { DIGITS_SHOWN_MAX, formatDigits, textOf } from '../api/exact-json.ts'
import { decodePart } from '../shell/page-route.ts'
import { timeZone } from '../shell/settings.ts'

const MS_PER_S = 1000
const S_PER_MIN = 60

/** Formatters by zone: creating one takes longer than a hundred uses. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  formats.set(zone, made)
  return made
}

/** `2026-01-31 09:30:00.250` in the zone that was chosen; a text that is not a time stays as it is. */
export function formatTime(time: string | number, withMs = true): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return String(time)
  const text = formatOf(timeZone()).format(date)
  return withMs ? `${text}.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : text
}

const MIN_MS = 60_000
/** Clocks are put back by an hour, or in one zone by half of one. */
const REPEATED_AFTER_MS = [30, 60].flatMap((minutes) => [minutes * MIN_MS, -minutes * MIN_MS])

/** Hours ahead of UTC, such as `+2`, of a time that the clock of the zone shows twice; empty for all others. */
export function offsetIfRepeated(timeMs: number): string {
  const text = formatTime(timeMs)
  if (!REPEATED_AFTER_MS.some((ms) => formatTime(timeMs + ms) === text)) return ''
  const minutes = Math.round((Date.parse(`${text.replace(' ', 'T')}Z`) - timeMs) / MIN_MS)
  const size = Math.abs(minutes)
  const rest = size % 60 === 0 ? '' : `:${size % 60}`
  return `${minutes < 0 ? '−' : '+'}${Math.floor(size / 60)}${rest}`
}

/** A time to the second that no other second shares. */
export function formatExactTime(timeMs: number): string {
  return `${formatTime(timeMs, false)} ${offsetIfRepeated(timeMs)}`.trimEnd()
}

const AGES = [
  [60, 's'],
  [60, 'min'],
  [24, 'h'],
  [30, 'd'],
] as const

/** `4 min ago`; a time more than 30 days ago is its date. @param at - the time itself */
export function formatAgo(ms: number, at: string): string {
  let age = Math.max(0, Math.floor(ms / MS_PER_S))
  if (age < 5) return 'just now'
  for (const [size, unit] of AGES) {
    if (age < size) return `${age} ${unit} ago`
    age = Math.floor(age / size)
  }
  return formatTime(at, false).slice(0, 10)
}

export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return ''
  if (ms < MS_PER_S) return `${Math.round(ms)} ms`
  const hundredths = Math.round(ms / 10)
  if (hundredths < 100 * S_PER_MIN) return `${(hundredths / 100).toFixed(2)} s`
  const seconds = Math.round(ms / MS_PER_S)
  const minutes = Math.floor(seconds / S_PER_MIN)
  if (minutes < S_PER_MIN) return `${minutes} min ${seconds % S_PER_MIN} s`
  return `${Math.floor(minutes / S_PER_MIN)} h ${minutes % S_PER_MIN} min`
}

const counts = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const shortCounts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '' : formatDigits(count, counts)
}

export function formatShort(count: number): string {
  return formatDigits(count, shortCounts)
}

/** `1 call`, `2 calls`. */
export function formatCalls(count: number, more = ''): string {
  return `${formatCount(count)}${more} ${count === 1 && more === '' ? 'call' : 'calls'}`
}

const dollars = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const smallDollars = new Intl.NumberFormat('en', {
  minimumSignificantDigits: 2,
  maximumSignificantDigits: 2,
})

/** Dollars; costs below ten cents have two significant digits. */
export function formatCost(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return ''
  if (cost === 0) return '$0'
  const size = Math.abs(cost)
  return `${cost < 0 ? '−' : ''}$${formatDigits(size, size < 0.1 ? smallDollars : dollars)}`
}

/** Limits: numbers from here on are too long for a narrow column. */
const FITTING_COUNT_MAX = 10_000_000
const FITTING_COST_MIN = 1e-5
const FITTING_COST_MAX = 100_000

/** A count in at most nine characters. */
export function formatFittingCount(count: number): string {
  return Math.abs(count) < FITTING_COUNT_MAX ? formatCount(count) : formatShort(count)
}

/** A cost in at most ten characters. */
export function formatFittingCost(cost: number): string {
  const size = Math.abs(cost)
  if (cost === 0 || (size >= FITTING_COST_MIN && size < FITTING_COST_MAX)) return formatCost(cost)
  const digits = size < FITTING_COST_MIN ? size.toExponential(1) : formatShort(size)
  return `${cost < 0 ? '−' : ''}$${digits}`
}

const exact = new Intl.NumberFormat('en', { maximumSignificantDigits: 17 })

/** Every digit of a cost. */
export function formatExactCost(cost: number): string {
  return `${cost < 0 ? '−' : ''}$${exact.format(Math.abs(cost))}`
}

/** Four significant digits, enough for comparison. */
export function formatNumber(value: number): string {
  const size = Math.abs(value)
  if (value === 0 || (Number.isInteger(value) && size < DIGITS_SHOWN_MAX)) return String(value)
  return size < 0.001 || size >= 100_000 ? value.toExponential(1) : String(+value.toPrecision(4))
}

/** The name in an op ref, or the plain name. */
export function shortOp(opName: string): string {
  const [, name] = /\/op\/([^:]+):[^:]*$/.exec(opName) ?? []
  return name === undefined ? opName : decodePart(name)
}

/** A value on one line; what is shortened ends with `…`. */
export function preview(value: unknown, charsMax = 160): string {
  if (value === null || value === undefined) return ''
  const text = textOf(value)
  return text.length > charsMax ? `${cutText(text, charsMax)}…` : text
}

/** The beginning of a text, without half of a character at its end. */
export function cutText(text: string, charsMax: number): string {
  return text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')
}
