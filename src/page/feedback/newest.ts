/** The newest feedback of a time range, with links to what it is about. */
import { html } from 'htm/preact'
import { requestLines } from '../api/client.ts'
import type { Call } from '../api/wire.ts'
import { formatTime, preview, shortOp } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import type { FeedbackRow } from './newest-rows.ts'

interface NewestFeedbackProps {
  readonly project: string
  readonly rows: readonly FeedbackRow[]
}

export function NewestFeedback({ project, rows }: NewestFeedbackProps) {
  const names = useCallNames(project, rows)
  if (rows.length === 0) return null
  return html`<h2>The newest</h2>
    <div class="scroll" tabindex="0"><table class="list">
      <thead><tr><th scope="col">Given</th><th scope="col">Type</th><th scope="col">Payload</th><th scope="col">By</th><th scope="col">About</th></tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.id} project=${project} row=${row} names=${names} />`)}</tbody>
    </table></div>`
}

interface RowProps {
  readonly project: string
  readonly row: FeedbackRow
  readonly names: CallNames
}

function Row({ project, row, names }: RowProps) {
  const { emoji, note, value } = row.payload
  return html`<tr>
    <td>${formatTime(row.created_at, false)}</td>
    <td class="wrap"><button class="quiet" onClick=${() => setQuery({ type: row.feedback_type }, { isStep: true })}>${row.feedback_type}</button></td>
    <td class="wrap">${preview(emoji ?? note ?? value ?? row.payload)}</td>
    <td class="wrap">${row.creator ?? row.svc_user_id}</td>
    <td><${About} project=${project} about=${row.weave_ref} names=${names} /></td>
  </tr>`
}

/** Names of calls by their ids; null while they are loading. */
type CallNames = ReadonlyMap<string, string> | null

/** Without names, links have ids. */
const NO_NAMES: CallNames = new Map()

/** Reads the names of the calls that feedback is about. */
export function useCallNames(
  project: string,
  rows: readonly Pick<FeedbackRow, 'weave_ref'>[],
): CallNames {
  const ids = [...new Set(rows.flatMap(({ weave_ref }) => callIdOf(project, weave_ref) ?? []))]
  const loaded = useLoad(`${project} ${ids.join(' ')}`, async (signal) => {
    const names = new Map<string, string>()
    if (ids.length === 0) return names
    const body = { project_id: project, filter: { call_ids: ids }, columns: ['display_name'] }
    for await (const call of requestLines<Call>('/calls/stream_query', body, { signal }))
      names.set(call.id, call.display_name ?? shortOp(call.op_name))
    return names
  })
  if (loaded.failure !== null) return NO_NAMES
  return loaded.isOther ? null : loaded.value
}

interface AboutProps {
  readonly project: string
  /** A ref. */
  readonly about: string
  readonly names: CallNames
}

/** A call of the project is a link with its name, or with its id where it was deleted or could not be read; other refs are shown. */
export function About({ project, about, names }: AboutProps) {
  const id = callIdOf(project, about)
  if (id === undefined) return html`<span class="faint">${about}</span>`
  const name = names === null ? 'call' : (names.get(id) ?? id)
  return html`<a href=${pathTo(project, 'calls', id)} title=${id}>${name}</a>`
}

/** An id may have slashes, too. */
function callIdOf(project: string, ref: string): string | undefined {
  return ref.split(`:///${project}/call/`)[1]
}
