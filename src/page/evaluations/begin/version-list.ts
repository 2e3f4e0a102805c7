/** The choice of objects by name and version. */
import { html } from 'htm/preact'
import { focusNeighbour } from '../../parts/neighbour.ts'

export interface NamedVersion {
  readonly name: string
  /** `latest`, `v` and a number, a digest or an alias; '' for what has no versions. */
  readonly version: string
}

interface VersionListProps {
  readonly label: string
  /** Names to choose from. */
  readonly objects: readonly string[]
  readonly hasVersions?: boolean
  readonly chosen: readonly NamedVersion[]
  /** Limit: objects that can be chosen. */
  readonly max?: number
  readonly onChange: (chosen: readonly NamedVersion[]) => void
}

export function VersionList(props: VersionListProps) {
  const { label, objects, hasVersions = true, chosen, max = 1, onChange } = props
  const add = () =>
    onChange([...chosen, { name: objects[0] ?? '', version: hasVersions ? 'latest' : '' }])
  const remove = ({ currentTarget }: Event, at: number) => {
    const neighbours = {
      item: '.version-choice',
      button: 'select',
      instead: 'select',
      within: 'fieldset',
      isKeyedByIndex: true,
    }
    focusNeighbour(currentTarget as Element, neighbours)
    onChange(chosen.toSpliced(at, 1))
  }
  const valueIn = (event: Event) => (event.target as HTMLInputElement).value
  return html`<fieldset class="version-list">
    <legend>${label}</legend>
    ${chosen.map((one, at) => {
      const number = chosen.length > 1 ? ` ${at + 1}` : ''
      return html`<div key=${at} class="bar version-choice">
        <select aria-label=${`${label}${number}`} value=${one.name} onChange=${(event: Event) => onChange(chosen.with(at, { ...one, name: valueIn(event) }))}>
          ${objects.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select>
        ${hasVersions && html`<input class="short" required maxlength="128" aria-label=${`Version of ${label.toLowerCase()}${number}`} title="latest, v and a number, a digest or an alias" value=${one.version} onChange=${(event: Event) => onChange(chosen.with(at, { ...one, version: valueIn(event) }))} />`}
        ${chosen.length > 1 && html`<button type="button" class="quiet" aria-label=${`Remove ${label.toLowerCase()}${number}`} onClick=${(event: Event) => remove(event, at)}>remove</button>`}
      </div>`
    })}
    ${chosen.length < max && html`<button type="button" class="quiet" onClick=${add}>Add another ${label.toLowerCase()}</button>`}
  </fieldset>`
}
