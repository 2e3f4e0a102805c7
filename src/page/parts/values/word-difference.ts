/** A text with the words that were removed from another one and those that were added. */
import { html } from 'htm/preact'
import type { TextChange } from './text-changes.ts'

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const

export function WordDifference({ words }: { readonly words: readonly TextChange[] }) {
  return html`<span class="text words">${words.map(({ kind, text }, at) => html`<${TAGS[kind]} key=${at}>${text}</${TAGS[kind]}>`)}</span>`
}
