/** The fields of a key that are optional and can be edited. */
import { html } from 'htm/preact'
import type { KeyResponse } from '../../schemas/access/key.ts'
import { textOf } from '../parts/hooks/use-submit.ts'

/** As texts in the fields; empty: not set. */
interface KeySettings {
  readonly name: string
  readonly models: string
  /** As the browser's field has it: local time to the minute. */
  readonly expires: string
  readonly requests_per_minute: string
  readonly tokens_per_minute: string
  readonly parallel_requests: string
}

export const NO_SETTINGS: KeySettings = {
  name: '',
  models: '',
  expires: '',
  requests_per_minute: '',
  tokens_per_minute: '',
  parallel_requests: '',
}

const LIMITS = [
  ['requests_per_minute', 'Requests a minute'],
  ['tokens_per_minute', 'Tokens a minute'],
  ['parallel_requests', 'Parallel requests'],
] as const

/** The settings as a request has them: null where a field is empty. */
export function toRequest({ name, models, expires, ...limits }: KeySettings) {
  const count = (text: string) => (text === '' ? null : Number(text))
  return {
    name: name.trim() || null,
    models: models.trim() === '' ? null : splitNames(models),
    expires_at: expires === '' ? null : new Date(expires).toISOString(),
    requests_per_minute: count(limits.requests_per_minute),
    tokens_per_minute: count(limits.tokens_per_minute),
    parallel_requests: count(limits.parallel_requests),
  }
}

export function toSettings(key: KeyResponse): KeySettings {
  const text = (limit: number | null) => (limit === null ? '' : String(limit))
  return {
    name: key.name ?? '',
    models: key.models?.join(', ') ?? '',
    expires: key.expires_at === null ? '' : toLocal(key.expires_at),
    requests_per_minute: text(key.requests_per_minute),
    tokens_per_minute: text(key.tokens_per_minute),
    parallel_requests: text(key.parallel_requests),
  }
}

function toLocal(time: string): string {
  const date = new Date(time)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

export function splitNames(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '')
}

interface SettingsFieldsProps {
  readonly settings: KeySettings
  readonly onChange: (settings: KeySettings) => void
}

export function SettingsFields({ settings, onChange }: SettingsFieldsProps) {
  const set = (field: keyof KeySettings) =>
    textOf((text) => onChange({ ...settings, [field]: text }))
  return html`<div class="bar">
      <label>Name<input maxlength="128" value=${settings.name} onInput=${set('name')} /></label>
      <label>Expires<input type="datetime-local" value=${settings.expires} onInput=${set('expires')} /></label>
      <label>Models<input value=${settings.models} onInput=${set('models')} placeholder="all" /></label>
      <span class="faint">names, or beginnings of names and *; separated by commas</span>
    </div>
    <div class="bar">
      ${LIMITS.map(
        ([field, label]) =>
          html`<label key=${field}>${label}<input type="number" min="0" step="1" value=${settings[field]} onInput=${set(field)} placeholder="default" /></label>`,
      )}
      <span class="faint">0: no limit; empty: the default of the server</span>
    </div>`
}
