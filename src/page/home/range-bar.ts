/** Chooses the time that is looked at. */
import { html } from 'htm/preact'
import { formatTime } from '../parts/format.ts'
import { choosePreset, PRESETS, readRange } from './range.ts'

export function RangeBar({ isLoading }: { readonly isLoading: boolean }) {
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
      html`<span class="faint">${formatTime(range.fromMs, false)} to ${formatTime(range.toMs, false)}</span>`
    }
    <span class="faint" role="status">${range.preset === null ? '' : 'live'}${isLoading ? ' …' : ''}</span>
  </div>`
}
