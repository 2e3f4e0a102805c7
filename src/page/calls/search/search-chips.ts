/** The conditions in use: each can be removed, or put back into the field. */
import { html } from 'htm/preact'
import { useRef } from 'preact/hooks'
import { icon } from '../../parts/icon.ts'
import type { SearchDraft } from './search-draft.ts'
import { type Condition, printCondition } from './search-text.ts'

export function SearchChips({ draft }: { readonly draft: SearchDraft }) {
  const list = useRef<HTMLUListElement>(null)
  const remove = (condition: Condition, at: number) => {
    draft.remove(condition)
    // The focused button is about to go.
    const buttons = list.current?.querySelectorAll<HTMLElement>('.chip-remove')
    const next = buttons?.[at + 1] ?? buttons?.[at - 1]
    const field = list.current?.closest('.search')?.querySelector('input')
    const target = next ?? field
    target?.focus()
  }
  return html`<ul class="chips" aria-label="Conditions" ref=${list}>
    ${draft.chips.map((condition, at) => {
      const text = printCondition(condition)
      return html`<li key=${text} class="chip">
        <button type="button" class="chip-text" title=${`Change ${text}`} onClick=${() => draft.edit(condition)}>${text}</button>
        <button type="button" class="chip-remove" aria-label=${`Remove ${text}`} onClick=${() => remove(condition, at)}>${icon('x')}</button>
      </li>`
    })}
    ${draft.chips.length > 1 && html`<li><button type="button" class="quiet" onClick=${() => draft.clear()}>clear all</button></li>`}
  </ul>`
}
