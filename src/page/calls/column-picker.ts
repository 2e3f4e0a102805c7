/** Chooses the columns of the table. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { Menu } from '../parts/overlay/menu.ts'
import { CHOICES, chooseColumns, columnNamed, columnNames } from './columns.ts'

export function ColumnPicker() {
  return html`<${Menu} words="Columns"><${Choices} /><//>`
}

function Choices() {
  const chosen = columnNames.value
  const paths = chosen.filter((name) => name.includes('.'))
  const toggle = (name: string) => {
    if (chosen.includes(name)) return chooseColumns(chosen.filter((other) => other !== name))
    const order = CHOICES.map((choice) => choice.name)
    const fixed = order.filter((other) => other === name || chosen.includes(other))
    chooseColumns([...fixed, ...paths])
  }
  const checkbox = (name: string, label: string) => html`<label key=${name} class="check">
      <input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} />${label}
    </label>`
  return html`${CHOICES.map(({ name, label }) => checkbox(name, label))}
    ${paths.map((name) => checkbox(name, name))}
    <${PathField} onAdd=${(path: string) => chooseColumns([...chosen, path])} />`
}

function PathField({ onAdd }: { readonly onAdd: (path: string) => void }) {
  const [path, setPath] = useState('')
  const [isRefused, setRefused] = useState(false)
  const submit = (event: Event) => {
    event.preventDefault()
    const isPath = path.includes('.') && columnNamed(path) !== null
    setRefused(!isPath)
    if (!isPath) return
    onAdd(path)
    setPath('')
  }
  return html`<form class="bar" onSubmit=${submit}>
    <input
      aria-label="A field inside of inputs, output, attributes or summary"
      placeholder="inputs.question"
      value=${path}
      onInput=${(event: InputEvent) => setPath((event.target as HTMLInputElement).value.trim())}
    />
    <button>Add</button>
    ${isRefused && html`<span class="failure" role="alert">a path begins with inputs., output., attributes. or summary.</span>`}
  </form>`
}
