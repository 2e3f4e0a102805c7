/** A text shown instead of missing content. */
import { html } from 'htm/preact'

export function Failure({ words }: { readonly words: string | null }) {
  return words === null ? null : html`<p class="notice failure" role="alert">${words}</p>`
}

/** Shown after a moment, since most answers arrive earlier. */
export function Loading() {
  return html`<p class="notice waiting" role="status">Loading …</p>`
}
