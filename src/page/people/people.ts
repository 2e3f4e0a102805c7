/** The people who sign in: list with roles, invitations, removal. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { SessionResponse } from '../../schemas/access/password.ts'
import type { PersonResponse } from '../../schemas/access/person.ts'
import { requestJson } from '../api/client.ts'
import { caller } from '../api/session.ts'
import { formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { EditPerson } from './edit-person.ts'
import { renderGrants } from './grant-fields.ts'
import { Invite } from './invite.ts'

/** Whether and how people sign in. */
type SignIns = Pick<typeof SessionResponse._output, 'sign_in' | 'passwords'>

async function readPeople(signal: AbortSignal) {
  const [people, signIns] = await Promise.all([
    requestJson<{ data: PersonResponse[] }>('/v1/people', undefined, { signal }),
    requestJson<SignIns>('/auth/session', undefined, { signal }),
  ])
  return { people: people.data, signIns }
}

export function People() {
  const [turn, setTurn] = useState(0)
  const [edited, setEdited] = useState<string | null>(null)
  const [withRemoved, setWithRemoved] = useState(false)
  const reload = () => setTurn((last) => last + 1)
  const loaded = useLoad('people', readPeople, turn)
  const { people = [], signIns = null } = loaded.value ?? {}
  const chosen = people.find(({ id }) => id === edited)
  const shown = withRemoved ? people : people.filter(({ disabled_at }) => disabled_at === null)
  const hasPasswords = signIns?.passwords ?? false
  return html`<div class="people"><div class="bar"><h1>People</h1><a href="/budgets">Budgets</a> <a href="/audit">Who changed what</a></div>
    ${
      signIns !== null &&
      !(signIns.sign_in || signIns.passwords) &&
      html`<p class="notice">Nobody can sign in yet: set <code>WEFT_OIDC_ISSUER</code> or <code>WEFT_LOCAL_ACCOUNTS=on</code>.</p>`
    }
    <${Invite} hasPasswords=${hasPasswords} onMade=${reload} />
    ${chosen && html`<${EditPerson} key=${chosen.id} person=${chosen} hasPasswords=${hasPasswords} onChanged=${reload} onClose=${() => setEdited(null)} />`}
    <${Failure} words=${loaded.failure} />
    ${loaded.value === null && loaded.isLoading && html`<${Loading} />`}
    <div class="bar">
      <h2>${shown.length} ${shown.length === 1 ? 'person' : 'people'}</h2>
      <label class="inline"><input type="checkbox" checked=${withRemoved} onChange=${() => setWithRemoved(!withRemoved)} /> Show removed people</label>
    </div>
    <div class="scroll" tabindex="0"><table class="list keys" aria-label="People">
      <thead><tr>
        <th scope="col">Person</th><th scope="col">Roles</th><th scope="col">State</th>
        <th scope="col">Id</th><th scope="col"><span class="hidden">Edit</span></th>
      </tr></thead>
      <tbody>${shown.map((person) => html`<${Row} key=${person.id} person=${person} onEdit=${() => setEdited(person.id)} />`)}</tbody>
    </table></div></div>`
}

interface RowProps {
  readonly person: PersonResponse
  readonly onEdit: () => void
}

function Row({ person, onEdit }: RowProps) {
  const { id, name, email, grants, claim_grants } = person
  const shown = name ?? email ?? id
  return html`<tr>
    <td class="wrap">${shown}${id === caller.value?.svc_user_id && html` <span class="faint">(this is you)</span>`}${name !== null && email !== null && html`<br /><span class="faint">${email}</span>`}</td>
    <td class="wrap">${renderGrants(grants)}${claim_grants.length > 0 && html`<br /><span class="faint">by claims: ${renderGrants(claim_grants)}</span>`}</td>
    <td class="wrap">${stateOf(person)}</td>
    <td class="faint wrap">${id}</td>
    <td><button aria-label=${`Edit ${shown}`} onClick=${onEdit}>Edit</button></td>
  </tr>`
}

function stateOf({ disabled_at, signed_in_at, link_expires_at }: PersonResponse): string {
  if (disabled_at !== null) return `removed ${formatTime(disabled_at, false)}`
  if (link_expires_at !== null) return `has a link until ${formatTime(link_expires_at, false)}`
  return signed_in_at === null ? 'invited' : `signed in ${formatTime(signed_in_at, false)}`
}
