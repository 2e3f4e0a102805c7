/** The status of a call as a word with a mark. */
import { html } from 'htm/preact'
import type { Status } from '../../api/wire.ts'

const WORDS: Readonly<Record<Status, string>> = {
  success: 'ok',
  error: 'error',
  running: 'running',
  descendant_error: 'error below',
}

export function StatusMark({ status }: { readonly status: Status }) {
  return html`<span class=${`status ${status}`}>${WORDS[status] ?? status}</span>`
}
