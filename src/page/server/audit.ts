/** The audit list: who changed, deleted or exported what, the newest first. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { AuditEntryResponse } from '../../schemas/access/audit.ts'
import { requestJson } from '../api/client.ts'
import { formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { Failure, Loading } from '../parts/notice.ts'

const PAGE_SIZE = 50

type Action = AuditEntryResponse['action']

/** Each action, and what it is. */
const WHAT: Readonly<Record<Action, string>> = {
  'key.create': 'key created',
  'key.update': 'key edited',
  'key.rotate': 'secret of a key replaced',
  'key.revoke': 'key revoked',
  'person.create': 'person invited',
  'person.update': 'person edited or removed',
  'person.create_link': 'link for a password made',
  'person.set_password': 'password set',
  'person.sign_in': 'signed in',
  'person.sign_out': 'signed out',
  'budget.create': 'budget created',
  'budget.update': 'budget edited',
  'budget.delete': 'budget deleted',
  'alert.create': 'alert created',
  'alert.update': 'alert edited',
  'alert.delete': 'alert deleted',
  'evaluator.create': 'evaluator created',
  'evaluator.update': 'evaluator edited, paused or resumed',
  'evaluator.delete': 'evaluator deleted',
  'queue.create': 'annotation queue created',
  'queue.update': 'annotation queue edited',
  'retention.update': 'retention set',
  'redaction.update': 'redaction set',
  'training_job.create': 'training job made of calls',
  'alias.update': 'alias set or rolled back',
  'alias.delete': 'alias deleted',
  'calls.tag': 'tags of calls changed',
  'calls.delete': 'calls deleted',
  'objects.delete': 'versions of an object deleted',
  'feedback.delete': 'feedback deleted',
  'prices.delete': 'prices deleted',
  'queue.delete': 'annotation queue deleted',
  'model.delete': 'model deleted',
  'checkpoints.delete': 'checkpoints deleted',
  'response.delete': 'response deleted',
  'calls.export': 'calls exported',
  'trace.export': 'trace exported',
  'checkpoint.export': 'weights downloaded',
  'training_data.export': 'training data exported',
  'audit.export': 'audit list exported',
}

interface AuditPage {
  readonly data: readonly AuditEntryResponse[]
  readonly has_more: boolean
  readonly last_id: string
}

export function Audit() {
  const [actor, setActor] = useState('')
  const [action, setAction] = useState('')
  const [after, setAfter] = useState('')
  const choose = (set: (text: string) => void) =>
    textOf((text) => {
      set(text.trim())
      setAfter('')
    })
  const chosen = Object.entries({ actor, action, after }).filter(([, text]) => text !== '')
  const query = new URLSearchParams([['limit', String(PAGE_SIZE)], ...chosen])
  const url = `/v1/audit?${query}`
  const loaded = useLoad(url, (signal) => requestJson<AuditPage>(url, undefined, { signal }))
  const page = loaded.value
  return html`<h1>Audit</h1>
    <div class="bar filters">
      <label>User<input maxlength="128" value=${actor} onChange=${choose(setActor)} placeholder="svc_user_id" /></label>
      <label>Action<select value=${action} onChange=${choose(setAction)}>
        <option value="">all</option>
        ${Object.entries(WHAT).map(([name, what]) => html`<option key=${name} value=${name}>${what}</option>`)}
      </select></label>
      <span class="faint">${'All of it as JSON lines: GET /v1/audit/export'}</span>
    </div>
    <${Failure} words=${loaded.failure} />
    ${page === null && loaded.isLoading && html`<${Loading} />`}
    ${page !== null && html`<${Entries} entries=${page.data} />`}
    <div class="bar">
      ${after !== '' && html`<button onClick=${() => setAfter('')}>Newest entries</button>`}
      ${page?.has_more && html`<button onClick=${() => setAfter(page.last_id)}>Older entries</button>`}
    </div>`
}

function Entries({ entries }: { readonly entries: readonly AuditEntryResponse[] }) {
  if (entries.length === 0) return html`<p class="faint">There are no such entries.</p>`
  return html`<div class="scroll" tabindex="0"><table class="list keys" aria-label="Audit">
    <thead><tr>
      <th scope="col">Time</th><th scope="col">Who</th><th scope="col">Action</th>
      <th scope="col">Of</th><th scope="col">From</th><th scope="col">Before and after</th>
    </tr></thead>
    <tbody>${entries.map((entry) => html`<${Row} key=${entry.id} entry=${entry} />`)}</tbody>
  </table></div>`
}

function Row({ entry }: { readonly entry: AuditEntryResponse }) {
  const { created_at, svc_user_id, key_id, address, forwarded_for, before, after } = entry
  const projects = entry.projects.join(', ')
  return html`<tr>
    <td>${formatTime(created_at, false)}</td>
    <td class="wrap">${svc_user_id}${key_id !== svc_user_id && html`<br /><span class="faint">${key_id}</span>`}</td>
    <td>${WHAT[entry.action]}</td>
    <td class="wrap">${entry.subject_id}${projects !== entry.subject_id && html`<br /><span class="faint">${projects}</span>`}</td>
    <td class="wrap">${address}${forwarded_for !== null && html`<br /><span class="faint">for ${forwarded_for}</span>`}</td>
    <td class="wrap values">${[...namesOf(before, after)].map((name) => html`<${Field} key=${name} name=${name} before=${before} after=${after} />`)}</td>
  </tr>`
}

type State = AuditEntryResponse['before']

function namesOf(before: State, after: State): Set<string> {
  return new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
}

interface FieldProps {
  readonly name: string
  readonly before: State
  readonly after: State
}

/** One field of an entry, on a line: what it was, and what it is. */
function Field({ name, before, after }: FieldProps) {
  const [old, now] = [before, after].map((state) => state && textOfValue(state[name]))
  return html`<div><span class="faint">${name}</span> ${old}${old !== null && now !== null && ' → '}${now}</div>`
}

/** Limit: characters of a value on the page. */
const VALUE_CHARS_MAX = 300

function textOfValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text
}
