/** A JSON value that unfolds. Texts are shown as texts: nothing in them is ever taken for markup. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { isExactNumber } from '../../api/exact-json.ts'
import { cutText, formatCount } from '../format.ts'
import { RefLink } from './ref-link.ts'
import { parseRef } from './refs.ts'
import { StoredMediaView, storedMediaIn } from './stored-media.ts'

/** Limits: members shown of one value, and characters of one text, before a person asks for more. */
const MEMBERS_SHOWN = 100
const CHARS_SHOWN = 4000
/** Values nested deeper are folded at first. */
const OPEN_DEPTH = 2

interface JsonTreeProps {
  readonly value: unknown
  readonly name?: string
  readonly depth?: number
}

export function JsonTree({ value, name, depth = 0 }: JsonTreeProps) {
  const label = name === undefined ? null : html`<span class="json-name">${name}: </span>`
  if (typeof value === 'string') {
    const media = storedMediaIn(value)
    if (media !== null) return html`<div>${label}<${StoredMediaView} ...${media} /></div>`
    const text = parseRef(value) === null ? LongText : RefLink
    return html`<div>${label}<${text} text=${value} value=${value} /></div>`
  }
  if (typeof value !== 'object' || value === null || isExactNumber(value)) {
    const text = isExactNumber(value) ? value.rawJSON : String(value)
    return html`<div>${label}<span class="json-plain">${text}</span></div>`
  }
  const size = Array.isArray(value) ? value.length : Object.keys(value).length
  const brackets = Array.isArray(value) ? `[${size}]` : `{${size}}`
  if (size === 0) return html`<div>${label}<span class="json-plain">${brackets}</span></div>`
  return html`<${Branch} value=${value} depth=${depth}>${label}<span class="json-plain">${brackets}</span><//>`
}

interface BranchProps {
  readonly value: object
  readonly depth: number
  readonly children?: unknown
}

/** A branch of the tree; members are created when it is first opened: a value may have millions of them. */
function Branch({ value, depth, children }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const toggle = (event: Event) => setOpen((event.target as HTMLDetailsElement).open)
  return html`<details class="json" open=${isOpen} onToggle=${toggle}>
    <summary>${children}</summary>
    ${isOpen && html`<${Members} value=${value} depth=${depth + 1} />`}
  </details>`
}

function Members({ value, depth }: { readonly value: object; readonly depth: number }) {
  const [shown, setShown] = useState(MEMBERS_SHOWN)
  const members = Object.entries(value)
  return html`<div class="json-members">
    ${members
      .slice(0, shown)
      .map(
        ([name, member]) =>
          html`<${JsonTree} key=${name} name=${name} value=${member} depth=${depth} />`,
      )}
    ${
      members.length > shown &&
      html`<button onClick=${() => setShown(shown + 10 * MEMBERS_SHOWN)}>
        ${formatCount(members.length - shown)} more
      </button>`
    }
  </div>`
}

export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || text.length <= CHARS_SHOWN) return html`<span class="text">${text}</span>`
  const shown = cutText(text, CHARS_SHOWN)
  return html`<span class="text">${shown} … </span>
    <button onClick=${() => setWhole(true)}>${formatCount(text.length - shown.length)} characters more</button>`
}
