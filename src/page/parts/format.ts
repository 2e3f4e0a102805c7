/** Numbers and times as people read them. */
import { timeZone } from '../shell/settings.ts'

const MS_PER_S = 1000
const S_PER_MIN = 60

/** `2026-01-31 09:30:00.250` in the zone that was chosen. */
export function formatTime(time: string | number, withMs = true): string {
  const date = new Date(time)
  const text = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timeZone(),
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(date)
  return withMs ? `${text}.${String(date.getUTCMilliseconds()).padStart(3, '0')}` : text
}

export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return ''
  if (ms < MS_PER_S) return `${Math.round(ms)} ms`
  const seconds = ms / MS_PER_S
  if (seconds < S_PER_MIN) return `${seconds.toFixed(2)} s`
  return `${Math.floor(seconds / S_PER_MIN)} min ${Math.round(seconds % S_PER_MIN)} s`
}

const counts = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const shortCounts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? '' : counts.format(count)
}

export function formatShort(count: number): string {
  return shortCounts.format(count)
}

/** Dollars; cents of cents are shown where there is no more. */
export function formatCost(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return ''
  if (cost === 0) return '$0'
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`
}

/** The name in an op ref, or the plain name. */
export function shortOp(opName: string): string {
  const [, name] = /\/op\/([^:]+):[^:]*$/.exec(opName) ?? []
  return name === undefined ? opName : decodeURIComponent(name)
}

/** A value on one line, cut. */
export function preview(value: unknown, charsMax = 160): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.slice(0, charsMax)
}
