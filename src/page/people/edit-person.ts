/** Edits the roles of a person, ends its sessions, removes it. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { PersonResponse } from '../../schemas/access/person.ts'
import { requestJson } from '../api/client.ts'
import { useAction } from '../parts/hooks/use-action.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { BudgetsOf } from '../server/key-budgets.ts'
import { GrantFields, type GrantText, toGrants, toTexts } from './grant-fields.ts'
import { createLink, Link, type PasswordLink } from './invite.ts'

interface EditPersonProps {
  readonly person: PersonResponse
  /** Whether people can have passwords. */
  readonly hasPasswords: boolean
  readonly onChanged: () => void
  readonly onClose: () => void
}

export function EditPerson({ person, hasPasswords, onChanged, onClose }: EditPersonProps) {
  const { id, email, subject, disabled_at } = person
  const shown = person.name ?? email ?? id
  const [name, setName] = useState(person.name ?? '')
  const [texts, setTexts] = useState<readonly GrantText[]>(() => toTexts(person.grants))
  const [made, setMade] = useState<PasswordLink | null>(null)
  const url = `/v1/people/${encodeURIComponent(id)}`
  const patch = (body: object) => requestJson(url, body, { method: 'PATCH' })
  const saving = useSubmit(async () => {
    await patch({ name: name.trim() || null, grants: toGrants(texts) })
    onChanged()
    onClose()
  })
  const { act, done, failure } = useAction(onChanged)
  /** @returns a listener that does something at once */
  const press = (words: string, work: () => Promise<unknown>) => () =>
    act(async () => {
      await work()
      return words
    })
  const end = press('All sessions are over.', () => patch({ end_sessions: true }))
  const remove = press('The person is removed.', () => patch({ disabled: true }))
  const admit = press('The person is admitted again.', () => patch({ disabled: false }))
  const reset = press('A new link is made.', async () => setMade(await createLink(id)))
  return html`<form class="card" aria-label=${`Roles of ${shown}`} onSubmit=${saving.submit}>
      <h2>${shown} <span class="faint">${id}</span></h2>
      <div class="bar"><label>Name<input maxlength="128" value=${name} onInput=${textOf(setName)} /></label></div>
      <${GrantFields} texts=${texts} onChange=${setTexts} />
      <div class="bar">
        <button class="main" onClick=${clickOnce}>Save</button>
        <button type="button" onClick=${onClose}>Close</button>
      </div>
      <${Failure} words=${saving.failure} />
    </form>
    <div class="card" role="group" aria-label=${`Access of ${shown}`}>
      <div class="bar">
        <button onClick=${end}>End all sessions</button>
        ${hasPasswords && subject === null && html`<button onClick=${reset}>Reset the password</button>`}
        ${disabled_at === null ? html`<button class="danger" onClick=${remove}>Remove the person</button>` : html`<button onClick=${admit}>Admit again</button>`}
      </div>
      <${Failure} words=${failure} />
      ${done !== null && html`<p class="notice" role="status">${done}</p>`}
      ${made !== null && html`<${Link} link=${made} onClose=${() => setMade(null)} />`}
    </div>
    <div class="card"><${BudgetsOf} kind="person" id=${id} /></div>`
}
