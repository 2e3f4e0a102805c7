/** A JSON value that unfolds. Texts are shown as texts: nothing in them is ever taken for markup. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'

/** Limits: members shown of one value, and characters of one text, before a person asks for more. */
const MEMBERS_SHOWN = 100
const CHARS_SHOWN = 4000
/** Values nested deeper are folded at first. */
const OPEN_DEPTH = 2

export interface JsonTreeProps {
  readonly value: unknown
  readonly name?: string
  readonly depth?: number
}

export function JsonTree({ value, name, depth = 0 }: JsonTreeProps) {
  const label = name === undefined ? null : html`<span class="json-name">${name}: </span>`
  if (typeof value === 'string') return html`<div>${label}<${LongText} text=${value} /></div>`
  if (typeof value !== 'object' || value === null) {
    return html`<div>${label}<span class="json-plain">${String(value)}</span></div>`
  }
  const members = Object.entries(value)
  const brackets = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`
  if (members.length === 0)
    return html`<div>${label}<span class="json-plain">${brackets}</span></div>`
  return html`<details class="json" open=${depth < OPEN_DEPTH}>
    <summary>${label}<span class="json-plain">${brackets}</span></summary>
    <${Members} members=${members} depth=${depth + 1} />
  </details>`
}

function Members({ members, depth }: { members: [string, unknown][]; depth: number }) {
  const [shown, setShown] = useState(MEMBERS_SHOWN)
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
        ${members.length - shown} more
      </button>`
    }
  </div>`
}

export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  if (isWhole || text.length <= CHARS_SHOWN) return html`<span class="text">${text}</span>`
  return html`<span class="text">${text.slice(0, CHARS_SHOWN)} … </span>
    <button onClick=${() => setWhole(true)}>${text.length - CHARS_SHOWN} characters more</button>`
}
