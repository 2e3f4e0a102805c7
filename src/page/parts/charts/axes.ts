/** The steps of the axes of charts, and the labels of their ticks. Pure. */
import { formatTime, offsetIfRepeated } from '../format.ts'
import type { Line } from './line.ts'

const MS_PER_S = 1000
const S_PER_DAY = 86_400
const S_PER_MIN = 60
const MIN_PER_H = 60

/** 1, 2 and 5 at every power of ten. Up to ten such ticks from 0 have distinct labels of two digits. */
const DECIMALS = Array.from({ length: 32 }, (_, at) =>
  [1, 2, 5].map((digit) => Number(`${digit}e${at - 16}`)),
).flat()
const WHOLE = DECIMALS.filter(Number.isInteger)

const SIXTIETHS = [1, 2, 5, 10, 15, 30]
/** Steps in milliseconds; from one second on they follow clock units. */
const DURATIONS = [
  ...DECIMALS.filter((step) => step < MS_PER_S),
  ...SIXTIETHS.map((seconds) => seconds * MS_PER_S),
  ...SIXTIETHS.map((minutes) => minutes * S_PER_MIN * MS_PER_S),
  ...WHOLE.map((hours) => hours * MIN_PER_H * S_PER_MIN * MS_PER_S),
]

/** Returns the steps of a vertical axis: whole ones where all values are whole. */
export function stepsOf(lines: readonly Line[], isDuration: boolean): readonly number[] {
  if (isDuration) return DURATIONS
  const isWhole = lines.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)))
  return isWhole ? WHOLE : DECIMALS
}

/** Returns the ends of a vertical axis. Losses may be negative; all other values are shown from 0. */
export function limitsOf(min: number, max: number): [number, number] {
  if (min < 0) return [min * 1.1, Math.max(max, 0) * 1.1]
  return [0, max > 0 ? max * 1.1 : 1]
}

/** Names a tick by its minutes and hours without those that are 0. */
export function nameDuration(ms: number): string {
  if (ms < MS_PER_S) return `${Number(ms.toPrecision(2))} ms`
  const minutes = Math.floor(ms / MS_PER_S / S_PER_MIN)
  const parts = [
    [Math.floor(minutes / MIN_PER_H), 'h'],
    [minutes % MIN_PER_H, 'min'],
    [(ms / MS_PER_S) % S_PER_MIN, 's'],
  ] as const
  return parts.flatMap(([count, unit]) => (count === 0 ? [] : `${count} ${unit}`)).join(' ')
}

/** Only whole steps. */
export function nameSteps(ticks: readonly number[]): string[] {
  return ticks.map((tick) => (Number.isInteger(tick) ? String(tick) : ''))
}

/**
 * Returns the time of day, or the date if the ticks are days apart; with seconds if minutes are the same. A time that
 * the clock shows twice has its offset from UTC in a second line.
 */
export function nameTimes(ticks: readonly number[]): string[] {
  const [first = 0, second = first] = ticks
  const isDaily = second - first >= S_PER_DAY
  const end = second - first < S_PER_MIN ? 8 : 5
  return ticks.map((tick) => {
    const [day = '', hour = ''] = formatTime(tick * MS_PER_S, false).split(' ')
    if (isDaily) return day.slice(5)
    const name = hour === '00:00:00' ? day.slice(5) : hour.slice(0, end)
    return `${name}\n${offsetIfRepeated(tick * MS_PER_S)}`.trimEnd()
  })
}

/** Characters of the longest label. */
export function longestOf(labels: readonly string[] | null): number {
  return Math.max(...(labels ?? []).map(({ length }) => length), 1)
}
