/** A difference with its 95 % interval, as text and as a bar around zero. */
import { html } from 'htm/preact'
import { formatNumber } from '../../parts/format.ts'

interface Difference {
  readonly mean: number | null
  readonly low: number | null
  readonly high: number | null
  /** How often a difference as large comes about by chance, where that is known. */
  readonly p_value?: number | null
}

/** Differences that come about by chance more often are open, whatever their interval: with few prompts it is too narrow. */
const CHANCE_MAX = 0.05

/** Of the bar, in its own units. */
const [WIDTH, HEIGHT, EDGE] = [160, 14, 4]

/** Whether a difference is above or below zero as a whole, and not by chance. */
export function verdictOf({ low, high, p_value }: Difference): 'better' | 'worse' | 'open' {
  if (low === null || high === null || (p_value ?? 0) > CHANCE_MAX) return 'open'
  if (low > 0) return 'better'
  return high < 0 ? 'worse' : 'open'
}

function formatDifference({ mean, low, high }: Difference): string {
  if (mean === null) return 'not known'
  const sign = (value: number) => `${value > 0 ? '+' : ''}${formatNumber(value)}`
  return low === null || high === null ? sign(mean) : `${sign(mean)} [${sign(low)}, ${sign(high)}]`
}

const LOOKS = { better: 'success', worse: 'error', open: 'faint' }

/** @param most - largest absolute bound of all bars that are compared, for one scale */
export function Interval({
  difference,
  most,
}: {
  readonly difference: Difference
  readonly most: number
}) {
  const { mean, low, high } = difference
  const at = (value: number) => WIDTH / 2 + (value / (most || 1)) * (WIDTH / 2 - EDGE)
  const middle = HEIGHT / 2
  return html`<span class="bar">
    ${
      low !== null &&
      high !== null &&
      mean !== null &&
      html`<svg class=${LOOKS[verdictOf(difference)]} width=${WIDTH} height=${HEIGHT} aria-hidden="true">
        <line x1=${WIDTH / 2} x2=${WIDTH / 2} y1="0" y2=${HEIGHT} stroke="currentColor" stroke-dasharray="2 2" opacity="0.5" />
        <line x1=${at(low)} x2=${at(high)} y1=${middle} y2=${middle} stroke="currentColor" stroke-width="3" />
        <circle cx=${at(mean)} cy=${middle} r="4" fill="currentColor" />
      </svg>`
    }
    <span class="number">${formatDifference(difference)}</span>
  </span>`
}

/** The largest absolute bound of differences. */
export function largestOf(differences: readonly (Difference | null)[]): number {
  const bounds = differences.flatMap((one) => [one?.low, one?.high, one?.mean])
  return Math.max(0, ...bounds.map((bound) => Math.abs(bound ?? 0)))
}
