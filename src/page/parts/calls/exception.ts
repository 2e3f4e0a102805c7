/** The error that ended a call. */
import { html } from 'htm/preact'
import { LongText } from '../values/json-tree.ts'

export function Exception({ text }: { readonly text: string | null }) {
  return text === null
    ? null
    : html`<pre class="exception" tabindex="0"><${LongText} text=${text} /></pre>`
}
