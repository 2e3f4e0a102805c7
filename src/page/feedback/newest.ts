/** The newest feedback of a time, with the way to what it is about. */
import { html } from 'htm/preact'
import { ask } from '../api/client.ts'
import { formatTime, preview } from '../parts/format.ts'
import { Failure } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/place.ts'
import { newestFirst } from './newest-first.ts'
import type { FeedbackWindow } from './window.ts'

/** Limit: feedback that is listed. */
const ROWS_MAX = 100
const FIELDS = [
  'id',
  'created_at',
  'feedback_type',
  'creator',
  'svc_user_id',
  'payload',
  'weave_ref',
]

interface FeedbackRow {
  readonly id: string
  readonly created_at: string
  readonly feedback_type: string
  /** A name that the program gave. */
  readonly creator: string | null
  /** The user of the key. */
  readonly svc_user_id: string | null
  readonly payload: Readonly<Record<string, unknown>>
  readonly weave_ref: string
}

async function readNewest(
  asked: FeedbackWindow,
  signal: AbortSignal,
): Promise<readonly FeedbackRow[]> {
  const body = newestFirst(asked, FIELDS, ROWS_MAX)
  return (await ask<{ result: FeedbackRow[] }>('/feedback/query', body, { signal })).result
}

export function NewestFeedback({ asked }: { readonly asked: FeedbackWindow }) {
  const name = `${asked.start} ${asked.end} ${asked.feedback_type}`
  const newest = useLoad(name, (signal) => readNewest(asked, signal))
  const rows = newest.value ?? []
  if (rows.length === 0) return html`<${Failure} words=${newest.failure} />`
  return html`<h2>The newest</h2>
    <${Failure} words=${newest.failure} />
    <div class="scroll" tabindex="0"><table class="list">
      <thead><tr><th scope="col">Given</th><th scope="col">Type</th><th scope="col">Payload</th><th scope="col">By</th><th scope="col">About</th></tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.id} project=${asked.project_id} row=${row} />`)}</tbody>
    </table></div>`
}

interface RowProps {
  readonly project: string
  readonly row: FeedbackRow
}

function Row({ project, row }: RowProps) {
  const { emoji, note, value } = row.payload
  return html`<tr>
    <td>${formatTime(row.created_at, false)}</td>
    <td><button class="quiet" onClick=${() => setQuery({ type: row.feedback_type }, { isStep: true })}>${row.feedback_type}</button></td>
    <td class="wrap">${preview(emoji ?? note ?? value ?? row.payload)}</td>
    <td>${row.creator ?? row.svc_user_id}</td>
    <td><${About} project=${project} about=${row.weave_ref} /></td>
  </tr>`
}

/** A call of the project is a link; other refs are shown. */
function About({ project, about }: { readonly project: string; readonly about: string }) {
  const [, id] = /\/call\/([^/]+)$/.exec(about) ?? []
  const isHere = about.includes(`///${project}/`)
  if (id === undefined || !isHere) return html`<span class="faint">${about}</span>`
  return html`<a href=${pathTo(project, 'calls', id)}>${id}</a>`
}
