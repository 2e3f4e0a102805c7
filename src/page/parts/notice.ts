/** Words in the place of something that is not there. */
import { html } from 'htm/preact'

export function Failure({ words }: { readonly words: string | null }) {
  return words === null ? null : html`<p class="notice failure" role="alert">${words}</p>`
}

/** Seen after a moment: most answers are there before. */
export function Loading() {
  return html`<p class="notice waiting" role="status">Loading …</p>`
}
