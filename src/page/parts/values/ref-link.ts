/** A ref as a link to what it names. */
import { html } from 'htm/preact'
import { parseRef, pathOfRef, refLabel } from './refs.ts'

/** Any value. Shown as text when it is not a ref or has no page. */
export function RefLink({ value }: { readonly value: unknown }) {
  const ref = parseRef(value)
  const path = ref === null ? null : pathOfRef(ref)
  if (ref === null || path === null) {
    const words = typeof value === 'string' ? value : JSON.stringify(value)
    return html`<span class="text" title=${words}>${words}</span>`
  }
  return html`<a href=${path} title=${value}>${refLabel(ref)}</a>`
}
