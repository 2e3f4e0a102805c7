/** Creates a key and shows it once. */
import { html } from 'htm/preact'
import { useRef, useState } from 'preact/hooks'
import type { KeyResponse, SCOPES } from '../../schemas/access/key.ts'
import { requestJson } from '../api/client.ts'
import { caller } from '../api/session.ts'
import { CopyButton } from '../parts/copy-button.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { NO_SETTINGS, SettingsFields, splitNames, toRequest } from './key-settings.ts'

/** Each scope, and what it allows. */
const WHAT: Readonly<Record<(typeof SCOPES)[number], string>> = {
  'traces:read': 'read calls, statistics, feedback',
  'traces:write': 'record calls and feedback',
  inference: 'use models',
  training: 'models, jobs, checkpoints',
  worker: 'claim training jobs',
  metrics: 'read /metrics',
  admin: 'all of these, keys and models',
}
const USUAL = ['traces:read', 'traces:write', 'inference', 'training']

export interface Made extends KeyResponse {
  readonly secret: string
}

export function NewKey({ onMade }: { readonly onMade: () => void }) {
  const [user, setUser] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(USUAL)
  const [projects, setProjects] = useState(caller.value?.project_patterns.join(', ') ?? '*')
  const [settings, setSettings] = useState(NO_SETTINGS)
  const [made, setMade] = useState<Made | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const { submit, failure } = useSubmit(async () => {
    const rights = { svc_user_id: user.trim(), scopes, projects: splitNames(projects) }
    setMade(await requestJson<Made>('/v1/keys', { ...rights, ...toRequest(settings) }))
    setUser('')
    setSettings(NO_SETTINGS)
    onMade()
  })
  const close = () => {
    setMade(null)
    field.current?.focus()
  }
  const toggle = (scope: string) =>
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope])
  return html`<form class="card new-key" onSubmit=${submit}>
      <h2>New key</h2>
      <div class="bar">
        <label>User<input ref=${field} required maxlength="128" value=${user} onInput=${textOf(setUser)} /></label>
        <label>Projects<input required value=${projects} onInput=${textOf(setProjects)} aria-describedby="patterns" /></label>
        <span id="patterns" class="faint">*, acme/* or acme/demo; separated by commas</span>
      </div>
      <div class="bar" role="group" aria-label="Scopes">
        ${Object.entries(WHAT).map(
          ([scope, what]) => html`<label key=${scope} class="inline">
            <input type="checkbox" checked=${scopes.includes(scope)} onChange=${() => toggle(scope)} />
            ${scope} <span class="faint">${what}</span>
          </label>`,
        )}
      </div>
      <details><summary>Name, end, models and limits</summary>
        <${SettingsFields} settings=${settings} onChange=${setSettings} />
      </details>
      <button class="main" onClick=${clickOnce}>Create key</button>
      <${Failure} words=${failure} />
      ${made !== null && html`<${Secret} key=${made.id} made=${made} onClose=${close} />`}
    </form>`
}

export function Secret({ made, onClose }: { readonly made: Made; readonly onClose: () => void }) {
  const link = `${location.origin}/#key=${made.secret}`
  return html`<div class="secret" role="status">
    <p>The key of <b>${made.svc_username}</b>, shown only once:</p>
    <pre tabindex="0">${made.secret}</pre>
    <${CopyButton} words="Copy the key" text=${made.secret} />
    <${CopyButton} words="Copy a link that signs in" text=${link} />
    <button type="button" onClick=${onClose}>Done</button>
  </div>`
}
