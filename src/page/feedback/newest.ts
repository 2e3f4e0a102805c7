/** The newest feedback of a time range, with links to what it is about. */
import { html } from 'htm/preact'
import { formatTime, preview } from '../parts/format.ts'
import { setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import type { FeedbackRow } from './newest-rows.ts'

interface NewestFeedbackProps {
  readonly project: string
  readonly rows: readonly FeedbackRow[]
}

export function NewestFeedback({ project, rows }: NewestFeedbackProps) {
  if (rows.length === 0) return null
  return html`<h2>The newest</h2>
    <div class="scroll" tabindex="0"><table class="list">
      <thead><tr><th scope="col">Given</th><th scope="col">Type</th><th scope="col">Payload</th><th scope="col">By</th><th scope="col">About</th></tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.id} project=${project} row=${row} />`)}</tbody>
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
    <td class="wrap"><button class="quiet" onClick=${() => setQuery({ type: row.feedback_type }, { isStep: true })}>${row.feedback_type}</button></td>
    <td class="wrap">${preview(emoji ?? note ?? value ?? row.payload)}</td>
    <td class="wrap">${row.creator ?? row.svc_user_id}</td>
    <td><${About} project=${project} about=${row.weave_ref} /></td>
  </tr>`
}

/** A call of the project is a link; other refs are shown. */
export function About({ project, about }: { readonly project: string; readonly about: string }) {
  // An id may have slashes, too.
  const [, id] = about.split(`:///${project}/call/`)
  if (id === undefined) return html`<span class="faint">${about}</span>`
  return html`<a href=${pathTo(project, 'calls', id)}>${id}</a>`
}
