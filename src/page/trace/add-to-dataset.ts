/** Adds a call to a dataset as a row, which is shown before and can be changed. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { ApiFailure, ask } from '../api/client.ts'
import { parseExact } from '../api/exact-json.ts'
import { refScheme } from '../api/ref-scheme.ts'
import { may } from '../api/session.ts'
import { type Call, membersOf } from '../api/wire.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { readVersion, readVersions, tableOf } from '../objects/object-reads.ts'
import { answersOf, saidLast } from '../parts/messages.ts'
import { Failure } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { clickOnce, useSubmit } from '../parts/use-submit.ts'
import { pathToVersion } from '../shell/place.ts'

/** Limit: datasets that are suggested. */
const DATASETS_MAX = 1000
const LINES_MAX = 20
/** Limit: versions that are published for one row. */
const TRIES_MAX = 5

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

/**
 * Publishes the next version of a dataset, or its first one. When others published meanwhile, that version lacks their
 * rows: the row is then added to theirs.
 *
 * @throws ApiFailure, Error when the object is none, or others publish all the time
 */
async function addRow(project_id: string, object_id: string, row: object): Promise<void> {
  let before = await readNamed(project_id, object_id, 'latest')
  const own = new Set<string>()
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const digest = await publishGrown(project_id, object_id, before, row)
    own.add(digest)
    const missed = await findMissed(project_id, object_id, before, digest, own)
    if (missed === null) return
    before = await readNamed(project_id, object_id, missed)
  }
  const message = `Others changed ${object_id} at the same time: its latest version may lack rows of theirs.`
  throw new Error(`${message} See its versions before you add the row again.`)
}

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
    ? ask<{ digest: string }>('/table/create', { table: { project_id, rows: [row] } })
    : ask<{ digest: string }>('/table/update', {
        project_id,
        base_digest,
        updates: [{ append: { row } }],
      }))
  const rows = `${refScheme()}:///${project_id}/table/${digest}`
  const val = { ...(content ?? newDataset(object_id)), rows }
  const obj = { project_id, object_id, val }
  return (await ask<{ digest: string }>('/obj/create', { obj })).digest
}

/** The newest version of others between the one that was read and the one that was made of it; null: there is none. */
async function findMissed(
  project_id: string,
  object_id: string,
  before: ObjectVersion | null,
  digest: string,
  own: ReadonlySet<string>,
): Promise<string | null> {
  const { signal } = new AbortController()
  const from = before?.version_index ?? -1
  const { version_index: to } = await readVersion(project_id, object_id, digest, signal)
  if (to <= from + 1) return null
  // Deleted versions keep their numbers, so a gap alone says nothing.
  const versions = await readVersions(project_id, object_id, signal)
  const missed = versions
    .filter((each) => each.version_index > from && each.version_index < to && !own.has(each.digest))
    .sort((one, other) => other.version_index - one.version_index)
  return missed[0]?.digest ?? null
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
