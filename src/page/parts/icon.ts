/** Icons, drawn in the colour of the text beside them. */
import { html } from 'htm/preact'
import type { IconName } from './icon-names.ts'

const FILE = new URL('../icons.svg', import.meta.url).pathname

/** Renders an icon. It is hidden from screen readers: the text beside it, or the label of its button, says the same. */
export function icon(name: IconName) {
  return html`<svg class="icon" aria-hidden="true"><use href=${`${FILE}#${name}`} /></svg>`
}
