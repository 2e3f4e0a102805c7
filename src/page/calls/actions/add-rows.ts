/** Adds the selected calls to a dataset, a row for each. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestLines } from '../../api/client.ts'
import type { Call } from '../../api/wire.ts'
import { addRows, listDatasets, rowOf } from '../../objects/dataset-rows.ts'
import { formatCount } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Menu } from '../../parts/overlay/menu.ts'
import { pathToVersion } from '../../shell/page-route.ts'
import { groupsOf, readSelectedIds } from '../selection/selected-calls.ts'
import type { Target } from '../selection/selected-query.ts'

/** Limit: rows added at once; the browser holds all of them. */
const ROWS_MAX = 5000
/** Calls read in one request. */
const CALLS_READ = 100

export function AddRows({ target }: { readonly target: Target }) {
  return html`<${Menu} words="Add to a dataset"><${Choice} target=${target} /><//>`
}

function Choice({ target }: { readonly target: Target }) {
  const { project } = target
  const names = useLoad(project, (signal) => listDatasets(project, signal))
  const [name, setName] = useState('')
  const [note, setNote] = useState<string | null>(null)
  const [filled, setFilled] = useState<string | null>(null)
  const { submit, failure } = useSubmit(async () => {
    setFilled(null)
    setNote('reading the calls …')
    try {
      const rows = await readRows(target, (count) => setNote(`${formatCount(count)} calls read …`))
      await addRows(project, name.trim(), rows)
      setFilled(name.trim())
      setNote(`${formatCount(rows.length)} ${rows.length === 1 ? 'row' : 'rows'} added to`)
    } catch (error) {
      setNote(null)
      throw error
    }
  })
  return html`<form class="fields" onSubmit=${submit}>
    <label>Dataset; a name that is not in use makes a new one
      <input required list="bulk-datasets" value=${name} onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} />
    </label>
    <datalist id="bulk-datasets">${names.value?.map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>
    <p class="faint">Each row has the inputs of a call, and its output as <code>expected</code>.</p>
    <button class="main" onClick=${clickOnce}>Add the rows</button>
    <span role="status">${failure ?? note ?? names.failure} ${filled !== null && failure === null && html`<a href=${pathToVersion(project, filled, 'latest')}>${filled}</a>`}</span>
  </form>`
}

/** @throws Error for more calls than can be added at once */
async function readRows(
  target: Target,
  onProgress: (count: number) => void,
): Promise<readonly object[]> {
  const ids = await readSelectedIds(target, ROWS_MAX + 1)
  if (ids.length > ROWS_MAX)
    throw new Error(
      `At most ${formatCount(ROWS_MAX)} rows can be added at once; select fewer calls.`,
    )
  const rows: object[] = []
  for (const call_ids of groupsOf(ids, CALLS_READ)) {
    const body = {
      project_id: target.project,
      filter: { call_ids },
      columns: ['inputs', 'output'],
    }
    for await (const call of requestLines<Call>('/calls/stream_query', body)) rows.push(rowOf(call))
    onProgress(rows.length)
  }
  if (rows.length === 0) throw new Error('The calls are no longer there.')
  return rows
}
