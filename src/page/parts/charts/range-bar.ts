/** Chooses the time range. */
import { html } from 'htm/preact'
import { formatExactTime } from '../format.ts'
import { choosePreset, PRESETS, readRange } from './range.ts'

interface RangeBarProps {
  readonly isLoading: boolean
  /** Whether the view is refreshed as time passes. */
  readonly isLive?: boolean
}

export function RangeBar({ isLoading, isLive = false }: RangeBarProps) {
  const range = readRange(Date.now())
  return html`<div class="bar" role="group" aria-label="Time">
    ${Object.entries(PRESETS).map(
      ([name, { label }]) =>
        html`<button
          key=${name}
          aria-pressed=${range.preset === name}
          title=${`the last ${label}`}
          onClick=${() => choosePreset(name)}
        >${name}</button>`,
    )}
    ${
      range.preset === null &&
      html`<span class="faint">${formatExactTime(range.fromMs)} to ${formatExactTime(range.toMs)}</span>`
    }
    <span class="faint" role="status">${isLive ? 'live' : ''}${isLoading ? ' …' : ''}</span>
  </div>`
}
