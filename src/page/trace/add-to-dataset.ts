/** Adds a call to a dataset as a row, which is shown before and can be changed. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { ApiFailure, ask } from '../api/client.ts'
import { parseExact } from '../api/exact-json.ts'
import { refScheme } from '../api/ref-scheme.ts'
import { may } from '../api/session.ts'
import { type Call, membersOf } from '../api/wire.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { readVersion, tableOf } from '../objects/object-reads.ts'
import { answersOf, saidLast } from '../parts/messages.ts'
import { Failure } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { clickOnce, useSubmit } from '../parts/use-submit.ts'
import { pathToVersion } from '../shell/place.ts'

/** Limit: datasets that are suggested. */
const DATASETS_MAX = 1000
const LINES_MAX = 20

interface AddToDatasetProps {
  readonly project: string
  readonly call: Call
}

export function AddToDataset(props: AddToDatasetProps) {
  const [isOpen, setOpen] = useState(false)
  if (!may('traces:write')) return null
  const toggle = (event: Event) => setOpen((event.target as HTMLDetailsElement).open)
  return html`<details class="part" onToggle=${toggle}>
    <summary><h2>Add to a dataset</h2></summary>
    ${isOpen && html`<${RowForm} ...${props} />`}
  </details>`
}

/** The inputs, and what the call answered as what an evaluation expects. */
function rowOf({ inputs, output }: Call): object {
  // The object whose method was called; a row is given to other models, too.
  const { self: _, ...given } = membersOf(inputs)
  return { ...given, expected: given.expected ?? saidLast(answersOf(output)) ?? output ?? null }
}

function RowForm({ project, call }: AddToDatasetProps) {
  const names = useLoad(project, (signal) => listDatasets(project, signal))
  const [name, setName] = useState('')
  const [text, setText] = useState(() => JSON.stringify(rowOf(call), null, 2))
  const [filled, setFilled] = useState<string | null>(null)
  const { submit, failure } = useSubmit(async () => {
    setFilled(null)
    await addRow(project, name.trim(), readRow(text))
    setFilled(name.trim())
  })
  const typedIn = (event: Event) => (event.target as HTMLInputElement).value
  return html`<form class="fields" onSubmit=${submit}>
    <label>Dataset; a name that is not in use makes a new one
      <input required list="datasets" value=${name} onInput=${(event: Event) => setName(typedIn(event))} />
    </label>
    <datalist id="datasets">${names.value?.map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>
    <label>Row
      <textarea rows=${Math.min(LINES_MAX, text.split('\n').length + 1)} spellcheck="false" value=${text} onInput=${(event: Event) => setText(typedIn(event))}></textarea>
    </label>
    <div class="bar">
      <button onClick=${clickOnce}>Add the row</button>
      <span role="status">${filled !== null && html`added to <a href=${pathToVersion(project, filled, 'latest')}>${filled}</a>`}</span>
    </div>
    <${Failure} words=${failure ?? names.failure} />
  </form>`
}

async function listDatasets(project_id: string, signal: AbortSignal): Promise<readonly string[]> {
  const body = {
    project_id,
    filter: { latest_only: true, base_object_classes: ['Dataset'] },
    metadata_only: true,
    limit: DATASETS_MAX,
  }
  const { objs } = await ask<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })
  return objs.map(({ object_id }) => object_id)
}

/** @throws Error for a text that is no JSON object */
function readRow(text: string): object {
  try {
    const row = parseExact(text)
    if (membersOf(row) === row) return row as object
  } catch {
    // Told below.
  }
  throw new Error('The row is not a JSON object.')
}

/** Publishes the next version of a dataset, or its first one. @throws ApiFailure, Error when the object is none */
async function addRow(project_id: string, object_id: string, row: object): Promise<void> {
  const before = await readContent(project_id, object_id)
  const base_digest = tableOf(before)
  if (before !== null && base_digest === null) throw new Error(`${object_id} is not a dataset.`)
  const { digest } = await (base_digest === null
    ? ask<{ digest: string }>('/table/create', { table: { project_id, rows: [row] } })
    : ask<{ digest: string }>('/table/update', {
        project_id,
        base_digest,
        updates: [{ append: { row } }],
      }))
  const rows = `${refScheme()}:///${project_id}/table/${digest}`
  const val = { ...(before ?? newDataset(object_id)), rows }
  await ask('/obj/create', { obj: { project_id, object_id, val } })
}

/** Null for an object that does not exist. */
async function readContent(project_id: string, object_id: string): Promise<object | null> {
  try {
    const read = readVersion(project_id, object_id, 'latest', new AbortController().signal)
    return membersOf((await read).val)
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return null
    throw error
  }
}

/** As the tracing SDKs publish one. */
function newDataset(name: string): object {
  const classes = { _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] }
  return { ...classes, name, description: null }
}
