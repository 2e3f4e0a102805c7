/** The API keys: list with rights, creation and revocation. */
import { html } from 'htm/preact'
import { useRef, useState } from 'preact/hooks'
import type { KeyResponse } from '../../schemas/access/key.ts'
import { errorText, requestJson } from '../api/client.ts'
import { caller } from '../api/session.ts'
import { formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { focusNeighbour } from '../parts/neighbour.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { EditKey } from './edit-key.ts'
import { NewKey } from './new-key.ts'

export function Keys() {
  const [turn, setTurn] = useState(0)
  const [edited, setEdited] = useState<string | null>(null)
  const [withRevoked, setWithRevoked] = useState(false)
  const reload = () => setTurn((last) => last + 1)
  const loaded = useLoad(
    'keys',
    (signal) => requestJson<{ data: KeyResponse[] }>('/v1/keys', undefined, { signal }),
    turn,
  )
  const keys = loaded.value?.data ?? []
  const chosen = keys.find(({ id, revoked_at }) => id === edited && revoked_at === null)
  const shown = withRevoked ? keys : keys.filter(({ revoked_at }) => revoked_at === null)
  return html`<div class="bar"><h1>Keys</h1><a href="/audit">Who changed what</a></div>
    <${NewKey} onMade=${reload} />
    ${chosen && html`<${EditKey} key=${chosen.id} row=${chosen} onChanged=${reload} onClose=${() => setEdited(null)} />`}
    <${Failure} words=${loaded.failure} />
    ${loaded.value === null && loaded.isLoading && html`<${Loading} />`}
    <div class="bar">
      <h2>${shown.length} ${shown.length === 1 ? 'key' : 'keys'}</h2>
      <label class="inline"><input type="checkbox" checked=${withRevoked} onChange=${() => setWithRevoked(!withRevoked)} /> Show revoked keys</label>
    </div>
    <div class="scroll" tabindex="0"><table class="list keys" aria-label="Keys">
      <thead><tr>
        <th scope="col">User</th><th scope="col">Scopes</th><th scope="col">Projects</th>
        <th scope="col">Created</th><th scope="col">Id</th><th scope="col"><span class="hidden">Revoke</span></th>
      </tr></thead>
      <tbody>${shown.map((row) => html`<${Row} key=${row.id} row=${row} onRevoked=${reload} onEdit=${() => setEdited(row.id)} />`)}</tbody>
    </table></div>
    <p class="faint">A revoked key is refused within a second. The key of <code>WEFT_BOOTSTRAP_KEY</code> is not stored and not listed.</p>`
}

interface RowProps {
  readonly row: KeyResponse
  readonly onRevoked: () => void
}

function Row({ row, onRevoked, onEdit }: RowProps & { readonly onEdit: () => void }) {
  const { id, svc_user_id, svc_username, scopes, projects, created_at, revoked_at } = row
  const isOwn = id === caller.value?.key_id
  return html`<tr>
    <td class="wrap">${svc_username}${svc_username !== svc_user_id && html` <span class="faint">${svc_user_id}</span>`}${isOwn && html` <span class="faint">(this is yours)</span>`}${row.name && html`<br />${row.name}`}</td>
    <td class="wrap">${scopes.join(', ')}${row.models && html`<br /><span class="faint">models ${row.models.join(', ')}</span>`}</td>
    <td class="wrap">${projects.join(', ')}</td>
    <td class="wrap">${formatTime(created_at, false)}<br /><span class="faint">${row.last_used_on === null ? 'never used' : `used ${row.last_used_on}`}${row.expires_at !== null && `, ends ${formatTime(row.expires_at, false)}`}</span></td>
    <td class="faint">${id}</td>
    <td class="revoke">${revoked_at === null ? html`<${Revoke} row=${row} isOwn=${isOwn} onRevoked=${onRevoked} /> <button aria-label=${`Edit the key of ${svc_username}`} onClick=${onEdit}>Edit</button>` : html`<span class="faint">revoked ${formatTime(revoked_at, false)}</span>`}</td>
  </tr>`
}

/** Two clicks, since revoking cannot be undone. */
function Revoke({ row, isOwn, onRevoked }: RowProps & { readonly isOwn: boolean }) {
  const [isAsked, setAsked] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const first = useRef<HTMLButtonElement>(null)
  const leave = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape') return
    setAsked(false)
    first.current?.focus()
  }
  const revoke = () =>
    requestJson(`/v1/keys/${encodeURIComponent(row.id)}`, undefined, { method: 'DELETE' }).then(
      () => {
        const neighbours = { item: 'tr', button: 'button', instead: '.scroll', within: 'main' }
        if (first.current !== null) focusNeighbour(first.current, neighbours)
        onRevoked()
      },
      (error: unknown) => setFailure(errorText(error)),
    )
  if (!isAsked) {
    return html`<button ref=${first} aria-label=${`Revoke the key of ${row.svc_username}`} onClick=${() => setAsked(true)}>Revoke</button>`
  }
  // Cancel takes the position of the first click, so that a double click revokes nothing.
  return html`<button ref=${first} onKeyDown=${leave} onClick=${() => setAsked(false)}>Cancel</button>
    <button class="danger" onKeyDown=${leave} onClick=${revoke}>${isOwn ? 'Revoke and sign out' : 'Revoke key'}</button>
    <${Failure} words=${failure} />`
}
