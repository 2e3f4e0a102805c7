/** The search of calls: a field that understands conditions, and a chip for each that is in use. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { listTags } from '../../api/tags.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { icon } from '../../parts/icon.ts'
import { showChildren, withChildren } from '../filters.ts'
import { type SearchDraft, useSearchDraft } from './search-draft.ts'
import { type Condition, printCondition } from './search-text.ts'
import { Suggestions, suggestionsOf } from './suggestions.ts'

interface SearchBoxProps {
  readonly project: string
  /** Behind the field. */
  readonly children?: ComponentChildren
}

export function SearchBox({ project, children }: SearchBoxProps) {
  const draft = useSearchDraft()
  const { chips, problems } = draft
  return html`<div class="search" role="search">
    <div class="search-line">
      <${Field} project=${project} draft=${draft} />
      <label class="check">
        <input type="checkbox" checked=${withChildren.value} onChange=${() => showChildren(!withChildren.value)} />
        Include nested calls
      </label>
      ${children}
    </div>
    ${chips.length > 0 && html`<${Chips} draft=${draft} />`}
    ${problems.map((words) => html`<p key=${words} class="failure notice" role="alert">${words}</p>`)}
  </div>`
}

interface FieldProps {
  readonly project: string
  readonly draft: SearchDraft
}

function Field({ project, draft }: FieldProps) {
  const { chips, text } = draft
  const field = useRef<HTMLInputElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const tags = useTags(project, isOpen && /(^|\s)-?tag:\S*$/i.test(text))
  const offers = isOpen ? suggestionsOf(text, tags) : []
  const choose = (offer: string) => {
    draft.type(offer)
    setActive(-1)
    field.current?.focus()
  }
  const press = (event: KeyboardEvent) => {
    const last = offers.length - 1
    const chosen = offers[active]
    if (event.isComposing) return
    if (event.key === 'ArrowDown' && !isOpen) setOpen(true)
    else if (event.key === 'ArrowDown' && last >= 0) setActive(active >= last ? 0 : active + 1)
    else if (event.key === 'ArrowUp' && last >= 0) setActive(active <= 0 ? last : active - 1)
    else if (event.key === 'Enter' && chosen !== undefined) choose(chosen.text)
    else if (event.key === 'Enter') {
      setOpen(false)
      draft.enter()
    } else if (event.key === 'Escape' && isOpen && offers.length > 0) setOpen(false)
    else if (event.key === 'Backspace' && text === '' && chips.length > 0)
      draft.edit(chips.at(-1) as Condition)
    else return
    event.preventDefault()
  }
  const isShown = offers.length > 0
  return html`<div class="search-field" onFocusOut=${(event: FocusEvent) => {
    const isInside = (event.currentTarget as Element).contains(event.relatedTarget as Node)
    if (!isInside) setOpen(false)
  }}>
    ${icon('search')}
    <input
      ref=${field}
      type="search"
      role="combobox"
      aria-label="Search calls"
      aria-expanded=${isShown}
      aria-controls="search-offers"
      aria-autocomplete="list"
      aria-activedescendant=${isShown && active >= 0 ? `search-offer-${active}` : undefined}
      autocomplete="off"
      spellcheck=${false}
      placeholder='search: status:error model:gpt* latency>2s user:hana "any words"'
      value=${text}
      onFocus=${() => setOpen(true)}
      onInput=${(event: InputEvent) => {
        setOpen(true)
        setActive(-1)
        draft.type((event.target as HTMLInputElement).value)
      }}
      onChange=${draft.apply}
      onKeyDown=${press}
    />
    ${isShown && html`<${Suggestions} offers=${offers} active=${active} onChoose=${choose} />`}
  </div>`
}

/** The tags of the project, once they are wanted; none until then. */
function useTags(project: string, isWanted: boolean): readonly string[] {
  const { value } = useLoad(`${project} ${isWanted}`, async (signal) =>
    isWanted ? listTags(project, signal) : [],
  )
  return value ?? []
}

/** The conditions in use: each can be removed, or put back into the field. */
function Chips({ draft }: { readonly draft: SearchDraft }) {
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
