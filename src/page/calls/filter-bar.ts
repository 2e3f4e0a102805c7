/** The fields of the filter. They change the address, and with it the table. */
import { html } from 'htm/preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { setQuery } from '../shell/location.ts'
import { FILTERS, type Filter, type FilterName, filterValues, withChildren } from './filters.ts'
import { afterPress } from './press.ts'

/** Pause after a key press before the text is applied. */
const TYPING_MS = 300

export function FilterBar() {
  const [isOpen, setOpen] = useState(false)
  const used = FILTERS.filter(({ name }) => filterValues.value[name] !== '').length
  return html`<button
      class="narrow"
      aria-expanded=${isOpen}
      aria-controls="filters"
      onClick=${() => setOpen(!isOpen)}
    >${isOpen ? 'Hide the filter' : 'Filter'}${used > 0 && ` (${used})`}</button>
    <form id="filters" class="bar filters folded" data-open=${isOpen} role="search" onSubmit=${(event: Event) => event.preventDefault()}>
    ${FILTERS.map((filter: Filter) => {
      const Field = filter.kind === 'choice' ? ChoiceField : TextField
      return html`<label key=${filter.name}>${filter.label}<${Field} ...${filter} /></label>`
    })}
    <label class="check">
      <input
        type="checkbox"
        checked=${withChildren.value}
        onChange=${() => setQuery({ all: withChildren.value ? null : '1' }, { isStep: true })}
      />
      include nested calls
    </label>
  </form>`
}

function ChoiceField({ name, choices = {} }: Filter) {
  const change = (event: Event) =>
    setQuery({ [name]: (event.target as HTMLSelectElement).value }, { isStep: true })
  return html`<select value=${filterValues.value[name as FilterName]} onChange=${change}>
    <option value="">any</option>
    ${Object.entries(choices).map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
  </select>`
}

/** Typing adds one history entry, from the first change until the field is left or Enter is pressed. */
function TextField({ name, kind, hint }: Filter) {
  const value = filterValues.value[name as FilterName]
  const [typed, setTyped] = useState(value)
  const isBegun = useRef(false)
  const applied = useRef(value)
  const apply = () => {
    if (typed === applied.current) return
    applied.current = typed
    setQuery({ [name]: typed }, { isStep: !isBegun.current })
    isBegun.current = true
  }
  useEffect(() => {
    // Only for changes from elsewhere: the user may have typed more since it was applied.
    if (value === applied.current) return
    applied.current = value
    isBegun.current = false
    setTyped(value)
  }, [value])
  useEffect(() => {
    const timer = setTimeout(() => afterPress(apply), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const commit = () => {
    apply()
    isBegun.current = false
  }
  return html`<input
    type=${kind}
    title=${hint}
    value=${typed}
    onInput=${(event: InputEvent) => setTyped((event.target as HTMLInputElement).value)}
    onChange=${() => afterPress(commit)}
  />`
}
