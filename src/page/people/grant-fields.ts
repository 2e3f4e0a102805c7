/** The roles of a person by projects, as fields. */
import { html } from 'htm/preact'
import type { RoleGrant } from '../../schemas/access/person.ts'
import { caller } from '../api/session.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { focusNeighbour } from '../parts/neighbour.ts'
import { splitNames } from '../server/key-settings.ts'

/** Each role, and what it allows. */
const WHAT: Readonly<Record<RoleGrant['role'], string>> = {
  playground: 'use models',
  viewer: 'read',
  rater: 'read, give feedback',
  developer: 'all that a project needs',
  admin: 'all, with keys and people',
}

/** A role as its fields have it. */
export interface GrantText {
  readonly role: RoleGrant['role']
  readonly projects: string
}

export function newGrant(): GrantText {
  return { role: 'viewer', projects: caller.value?.project_patterns.join(', ') ?? '*' }
}

export function toTexts(grants: readonly RoleGrant[]): GrantText[] {
  return grants.map(({ role, projects }) => ({ role, projects: projects.join(', ') }))
}

export function toGrants(texts: readonly GrantText[]): RoleGrant[] {
  return texts.map(({ role, projects }) => ({ role, projects: splitNames(projects) }))
}

export function renderGrants(grants: readonly RoleGrant[]): string {
  return grants.map(({ role, projects }) => `${role} in ${projects.join(', ')}`).join('; ')
}

interface GrantFieldsProps {
  readonly texts: readonly GrantText[]
  readonly onChange: (texts: readonly GrantText[]) => void
}

export function GrantFields({ texts, onChange }: GrantFieldsProps) {
  const change = (at: number, part: Partial<GrantText>) =>
    onChange(texts.map((text, index) => (index === at ? { ...text, ...part } : text)))
  const remove = ({ currentTarget }: Event, at: number) => {
    const neighbours = {
      item: '.grant',
      button: 'select',
      instead: '.add-grant',
      within: 'form',
      isKeyedByIndex: true,
    }
    focusNeighbour(currentTarget as Element, neighbours)
    onChange(texts.toSpliced(at, 1))
  }
  return html`${texts.map(
    (
      { role, projects },
      at,
    ) => html`<div class="bar grant" key=${at} role="group" aria-label=${`Role ${at + 1}`}>
      <label>Role<select value=${role} onChange=${textOf((text) => change(at, { role: text as RoleGrant['role'] }))}>
        ${Object.entries(WHAT).map(([name, what]) => html`<option key=${name} value=${name}>${name}: ${what}</option>`)}
      </select></label>
      <label>Projects<input required value=${projects} onInput=${textOf((text) => change(at, { projects: text }))} placeholder="*, acme/* or acme/demo" /></label>
      <button type="button" aria-label=${`Remove role ${at + 1}`} onClick=${(event: Event) => remove(event, at)}>Remove</button>
    </div>`,
  )}
  <button type="button" class="add-grant" onClick=${() => onChange([...texts, newGrant()])}>Add a role</button>`
}
