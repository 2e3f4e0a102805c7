/** Edits a key, and replaces its secret. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { KeyResponse } from '../../schemas/access/key.ts'
import { requestJson } from '../api/client.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { Use } from '../people/use.ts'
import { BudgetsOf } from './key-budgets.ts'
import { SettingsFields, toRequest, toSettings } from './key-settings.ts'
import { type Made, Secret } from './new-key.ts'

interface EditKeyProps {
  readonly row: KeyResponse
  readonly onChanged: () => void
  readonly onClose: () => void
}

export function EditKey({ row, onChanged, onClose }: EditKeyProps) {
  const [settings, setSettings] = useState(() => toSettings(row))
  const [made, setMade] = useState<Made | null>(null)
  const url = `/v1/keys/${encodeURIComponent(row.id)}`
  const saving = useSubmit(async () => {
    await requestJson(url, toRequest(settings), { method: 'PATCH' })
    onChanged()
    onClose()
  })
  const rotating = useSubmit(async () => {
    setMade(await requestJson<Made>(`${url}/rotate`, {}))
    onChanged()
  })
  return html`<form class="card" aria-label=${`Key of ${row.svc_username}`} onSubmit=${saving.submit}>
      <h2>Key of ${row.svc_username} <span class="faint">${row.id}</span></h2>
      <${SettingsFields} settings=${settings} onChange=${setSettings} />
      <button class="main" onClick=${clickOnce}>Save</button>
      <button type="button" onClick=${onClose}>Close</button>
      <${Failure} words=${saving.failure} />
    </form>
    <div class="card"><${BudgetsOf} kind="key" id=${row.id} /></div>
    <${Use} user=${row.svc_user_id} />
    <form class="card" aria-label="Secret" onSubmit=${rotating.submit}>
      <p>A new secret replaces the one that is in use, which is accepted for another day.</p>
      <button onClick=${clickOnce}>Replace the secret</button>
      <${Failure} words=${rotating.failure} />
      ${made !== null && html`<${Secret} key=${made.secret} made=${made} onClose=${() => setMade(null)} />`}
    </form>`
}
