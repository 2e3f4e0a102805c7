/** The fields of the filter. They change the address, and with it the table. */
import { html } from 'htm/preact'
import { useEffect, useState } from 'preact/hooks'
import { setQuery } from '../shell/location.ts'
import { FILTERS, filterValues, STATUSES, withChildren } from './filters.ts'

/** How long a person may pause between two keys. */
const TYPING_MS = 300

export function FilterBar() {
  return html`<form class="bar filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
    ${FILTERS.map(({ name, label, kind }) =>
      kind === 'status'
        ? html`<label key=${name}>${label}<${StatusField} /></label>`
        : html`<label key=${name}>${label}<${TextField} name=${name} kind=${kind} /></label>`,
    )}
    <label class="check">
      <input
        type="checkbox"
        checked=${withChildren.value}
        onChange=${() => setQuery({ all: withChildren.value ? null : '1' })}
      />
      calls inside of calls, too
    </label>
  </form>`
}

function StatusField() {
  const change = (event: Event) => setQuery({ status: (event.target as HTMLSelectElement).value })
  return html`<select value=${filterValues.value.status} onChange=${change}>
    <option value="">any</option>
    ${STATUSES.map((status) => html`<option key=${status} value=${status}>${status}</option>`)}
  </select>`
}

function TextField({
  name,
  kind,
}: {
  readonly name: keyof typeof filterValues.value
  readonly kind: string
}) {
  const value = filterValues.value[name]
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => setQuery({ [name]: typed }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return html`<input
    type=${kind}
    value=${typed}
    onInput=${(event: InputEvent) => setTyped((event.target as HTMLInputElement).value)}
  />`
}
