/** A metric above the charts: its value, its change against the period before, and its course as a small line. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { icon } from '../parts/icon.ts'

interface MetricCardProps {
  readonly label: string
  readonly value: ComponentChildren
  /** Now, and in the period before; null while unknown. */
  readonly change: readonly [now: number | null, before: number | null]
  readonly format: (value: number) => string
  /** By bucket. */
  readonly values: readonly (number | null)[]
  readonly color: string
  /** Whether a larger number is worse. */
  readonly isBad?: boolean
}

export function MetricCard({
  label,
  value,
  change,
  format,
  values,
  color,
  isBad,
}: MetricCardProps) {
  return html`<div class="figure card">
    <span class="label">${label}</span>
    <span class="value">${value}</span>
    <${Change} change=${change} format=${format} isBad=${isBad} />
    <${Spark} values=${values} color=${color} />
  </div>`
}

function Change({
  change: [now, before],
  format,
  isBad = false,
}: Pick<MetricCardProps, 'change' | 'format' | 'isBad'>) {
  if (now === null || before === null) return html`<span class="change"> </span>`
  const title = `${format(before)} in the period before`
  if (before === 0)
    return html`<span class="change faint" title=${title}>${now === 0 ? 'as before' : 'new'}</span>`
  const percent = Math.round((100 * (now - before)) / before)
  if (percent === 0) return html`<span class="change faint" title=${title}>as before</span>`
  const isMore = percent > 0
  const kind = isBad ? (isMore ? 'bad' : 'good') : 'faint'
  return html`<span class=${`change ${kind}`} title=${title}>${icon(isMore ? 'trending-up' : 'trending-down')} ${isMore ? '+' : '−'}${Math.abs(percent)} %</span>`
}

const WIDTH = 100
const HEIGHT = 28

/** Hidden from screen readers: the chart of the same values says more. */
function Spark({ values, color }: Pick<MetricCardProps, 'values' | 'color'>) {
  const top = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0)
  if (values.length < 2 || top === 0) return html`<svg class="spark" aria-hidden="true"></svg>`
  const points = values.map((value, at) => {
    const x = (WIDTH * at) / (values.length - 1)
    return `${x.toFixed(1)} ${(HEIGHT - 1 - ((value ?? 0) / top) * (HEIGHT - 3)).toFixed(1)}`
  })
  return html`<svg class=${`spark ${color}`} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
    <path class="spark-area" d=${`M0 ${HEIGHT} L${points.join(' L')} L${WIDTH} ${HEIGHT} Z`} />
    <path class="spark-line" d=${`M${points.join(' L')}`} />
  </svg>`
}
