/** Adds a call to a dataset as a row, which is shown before and can be changed. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { ApiFailure, requestJson } from '../api/client.ts'
import { parseExact } from '../api/exact-json.ts'
import { refScheme } from '../api/ref-scheme.ts'
import { may } from '../api/session.ts'
import { type Call, membersOf } from '../api/wire.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { readVersion, tableOf } from '../objects/object-reads.ts'
import { lastMessageText, responseMessagesOf } from '../parts/messages.ts'
import { Failure } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { clickOnce, useSubmit } from '../parts/use-submit.ts'
import { pathToVersion } from '../shell/page-route.ts'

/** Limit: datasets that are suggested. */
const DATASETS_MAX = 1000
const LINES_MAX = 20
/** Characters of a row with a line for each value: browsers need seconds for a field of many thousand lines. */
const INDENTED_MAX = 100_000
/** Limit: tries to publish one row. Of those who try at once, one succeeds. */
const TRIES_MAX = 20
/** Longest pause before the second try; those who try at once part from each other by it. */
const PAUSE_MS = 100

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
  return {
    ...given,
    expected: given.expected ?? lastMessageText(responseMessagesOf(output)) ?? output ?? null,
  }
}

function textOfRow(row: object): string {
  const text = JSON.stringify(row)
  return text.length > INDENTED_MAX ? text : JSON.stringify(row, null, 2)
}

function RowForm({ project, call }: AddToDatasetProps) {
  const names = useLoad(project, (signal) => listDatasets(project, signal))
  const [name, setName] = useState('')
  const [text, setText] = useState(() => textOfRow(rowOf(call)))
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
  const { objs } = await requestJson<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })
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

/**
 * Publishes the next version of a dataset, or its first one, on top of the latest alone: when others publish
 * meanwhile, the row is added to what they published.
 *
 * @throws ApiFailure, Error when the object is none, others publish all the time, or its rows are those of an old version
 */
async function addRow(project_id: string, object_id: string, row: object): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    await pause(Math.random() * tries * PAUSE_MS)
    const before = await readNamed(project_id, object_id, 'latest')
    try {
      const digest = await publishGrown(project_id, object_id, before, row)
      const made = before && (await readNamed(project_id, object_id, digest))
      if (made && made.version_index < before.version_index)
        throw new Error(wordsOfOld(made, before))
      return
    } catch (error) {
      if (!(error instanceof ApiFailure && error.code === 'object_conflict')) throw error
    }
  }
  throw new Error(`Others change ${object_id} all the time: the row was not added.`)
}

/** Equal contents are one version, which keeps its place. */
function wordsOfOld(made: ObjectVersion, latest: ObjectVersion): string {
  const [old, last] = [made, latest].map(({ version_index }) => `v${version_index}`)
  return `With this row the rows are those of ${old}, so there is no new version: the latest is still ${last}, without the row.`
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Publishes a version with one row more. @returns its digest */
async function publishGrown(
  project_id: string,
  object_id: string,
  before: ObjectVersion | null,
  row: object,
): Promise<string> {
  const content = before === null ? null : membersOf(before.val)
  const base_digest = tableOf(content)
  if (before !== null && base_digest === null) throw new Error(`${object_id} is not a dataset.`)
  const { digest } = await (base_digest === null
    ? requestJson<{ digest: string }>('/table/create', { table: { project_id, rows: [row] } })
    : requestJson<{ digest: string }>('/table/update', {
        project_id,
        base_digest,
        updates: [{ append: { row } }],
      }))
  const rows = `${refScheme()}:///${project_id}/table/${digest}`
  const val = { ...(content ?? newDataset(object_id)), rows }
  const obj = { project_id, object_id, val, expected_latest: before?.version_index ?? -1 }
  return (await requestJson<{ digest: string }>('/obj/create', { obj })).digest
}

/** Null for an object that does not exist. */
async function readNamed(
  project_id: string,
  object_id: string,
  version: string,
): Promise<ObjectVersion | null> {
  try {
    return await readVersion(project_id, object_id, version, new AbortController().signal)
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
