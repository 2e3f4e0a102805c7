/** What may follow in a search: keys, and the values of a key that has few. */
import { html } from 'htm/preact'
import { useEffect, useRef } from 'preact/hooks'
import { operatorsOf, SEARCH_KEYS, searchKeyOf } from './search-keys.ts'
import { printValue } from './search-text.ts'

interface Suggestion {
  /** The whole search with the suggestion at its end. */
  readonly text: string
  /** What is added. */
  readonly label: string
  readonly hint: string
}

/**
 * Suggestions for the last word of a text; none inside of a quoted one.
 *
 * @param tags - those of the project
 */
export function suggestionsOf(text: string, tags: readonly string[]): readonly Suggestion[] {
  const [last = ''] = /\S*$/.exec(text) ?? []
  const before = text.slice(0, text.length - last.length)
  if (last.includes('"') || (before.match(/"/g) ?? []).length % 2 === 1) return []
  const [, minus = '', name = '', operator = ''] = /^(-?)([\w.-]*)([:<>=]*)/.exec(last) ?? []
  const typed = last.slice(minus.length + name.length + operator.length).toLowerCase()
  if (operator === '') {
    if (typed !== '') return []
    return SEARCH_KEYS.filter((key) => key.name.startsWith(name.toLowerCase())).map((key) => {
      const [first = ':'] = operatorsOf(key)
      const label = `${minus}${key.name}${first}`
      return { text: `${before}${label}`, label: key.example, hint: key.hint }
    })
  }
  const key = searchKeyOf(name.toLowerCase())
  const choices =
    key?.name === 'tag' ? Object.fromEntries(tags.map((tag) => [tag, ''])) : (key?.choices ?? {})
  const given = typed.split(',')
  const word = given.pop() ?? ''
  const stem = `${before}${minus}${name}${operator}${given.map((each) => `${each},`).join('')}`
  return Object.entries(choices)
    .filter(
      ([value]) => value.toLowerCase().startsWith(word) && value !== word && !given.includes(value),
    )
    .map(([value, hint]) => ({ text: `${stem}${printValue(value)} `, label: value, hint }))
}

interface SuggestionsProps {
  readonly offers: readonly Suggestion[]
  readonly active: number
  readonly onChoose: (text: string) => void
}

export function Suggestions({ offers, active, onChoose }: SuggestionsProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return html`<ul id="search-offers" class="offers" role="listbox" aria-label="Suggestions" ref=${list}>
    ${offers.map(
      ({ text, label, hint }, at) => html`<li
        key=${text}
        id=${`search-offer-${at}`}
        role="option"
        aria-selected=${at === active}
        onMouseDown=${(event: Event) => event.preventDefault()}
        onClick=${() => onChoose(text)}
      ><code>${label}</code> <span class="faint">${hint}</span></li>`,
    )}
  </ul>`
}
