/** Chooses the zone of all times. */
import { html } from 'htm/preact'
import { icon } from '../parts/icon.ts'
import { timeMode } from '../shell/settings.ts'
import { chooseTimeMode } from '../shell/zone.ts'

export function ZoneButton() {
  const isUtc = timeMode.value === 'UTC'
  return html`<button class="ghost zone" title="Zone of all times" onClick=${() => chooseTimeMode(isUtc ? 'local' : 'UTC')}>${icon('globe')}<span class="rail-label">${isUtc ? 'UTC' : 'local time'}</span></button>`
}
