/** How long ago something was, with the exact time in its title. */
import { signal } from '@preact/signals'
import { html } from 'htm/preact'
import { serverNow } from '../../api/clock.ts'
import { formatAgo, formatTime } from '../format.ts'

const TICK_MS = 15_000

/** Changes every few seconds while the page is visible. */
const tick = signal(0)
setInterval(() => {
  if (document.visibilityState === 'visible') tick.value += 1
}, TICK_MS)

/** @param props - `at`: a timestamp of the API */
export function RelativeTime({ at }: { readonly at: string }) {
  void tick.value
  return html`<time datetime=${at} title=${formatTime(at)}>${formatAgo(serverNow() - Date.parse(at), at)}</time>`
}
