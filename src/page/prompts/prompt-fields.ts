/** The messages of a prompt as fields, and the variables in them. */
import { html } from 'htm/preact'
import { focusNeighbour } from '../parts/neighbour.ts'
import { canChange } from '../playground/drafts.ts'
import { MESSAGES_MAX, type PromptItem, toItem, variablesIn } from './prompt-draft.ts'

const LINES_MAX = 20
const ROLES = ['system', 'developer', 'user', 'assistant']

interface PromptFieldsProps {
  readonly items: readonly PromptItem[]
  /** Whether the prompt is one text, without roles. */
  readonly isText: boolean
  readonly onChange: (items: readonly PromptItem[]) => void
}

export function PromptFields({ items, isText, onChange }: PromptFieldsProps) {
  const variables = variablesIn(items.map(({ text }) => text))
  const change = (item: PromptItem, next: PromptItem | null) =>
    onChange(items.flatMap((other) => (other === item ? (next ?? []) : other)))
  return html`<div class="prompt-fields">
    <ol class="prompt-messages">
      ${items.map(
        (item, at) =>
          html`<${ItemFields} key=${item.key} item=${item} number=${at + 1} isText=${isText} isAlone=${items.length === 1} onChange=${(next: PromptItem | null) => change(item, next)} />`,
      )}
    </ol>
    ${!isText && html`<div class="bar"><button type="button" class="add-message" disabled=${items.length >= MESSAGES_MAX} onClick=${() => onChange([...items, toItem({ role: 'user', content: '' })])}>Add a message</button></div>`}
    <p class="faint">Variables: ${variables.length === 0 ? html`none; write <code>{name}</code> for one` : variables.map((name) => html`<code key=${name}>{${name}}</code> `)}</p>
  </div>`
}

interface ItemFieldsProps {
  readonly item: PromptItem
  /** From 1. */
  readonly number: number
  readonly isText: boolean
  readonly isAlone: boolean
  /** @param item - null removes it */
  readonly onChange: (item: PromptItem | null) => void
}

function ItemFields({ item, number, isText, isAlone, onChange }: ItemFieldsProps) {
  const { message, text } = item
  const roles = ROLES.includes(message.role) ? ROLES : [message.role, ...ROLES]
  const setRole = (event: Event) => {
    const role = (event.target as HTMLSelectElement).value
    onChange({ ...item, message: { ...message, role } })
  }
  const remove = ({ currentTarget }: Event) => {
    const neighbours = {
      item: 'li',
      button: 'textarea',
      instead: '.add-message',
      within: '.prompt-fields',
    }
    focusNeighbour(currentTarget as Element, neighbours)
    onChange(null)
  }
  return html`<li>
    ${
      !isText &&
      html`<div class="bar">
      <label class="inline">Role <select value=${message.role} onChange=${setRole}>${roles.map((role) => html`<option key=${role} value=${role}>${role}</option>`)}</select></label>
      <span class="push"></span>
      ${!isAlone && html`<button type="button" class="quiet" aria-label=${`Remove message ${number}`} onClick=${remove}>remove</button>`}
    </div>`
    }
    <textarea aria-label=${isText ? 'Text of the prompt' : `Message ${number}`} rows=${Math.min(LINES_MAX, Math.max(2, text.split('\n').length))} value=${text} onInput=${(event: Event) => onChange({ ...item, text: (event.target as HTMLTextAreaElement).value })}></textarea>
    ${!canChange(message, text) && html`<span class="bad">This message has parts; they must be valid JSON.</span>`}
  </li>`
}
