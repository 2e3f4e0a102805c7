/** Adds rows to datasets: each time as the next version, on top of what others publish meanwhile. */
import { ApiFailure, requestJson } from '../api/client.ts'
import { refScheme } from '../api/ref-scheme.ts'
import { type Call, membersOf } from '../api/wire.ts'
import type { TableUpdate } from '../datasets/row-edits.ts'
import { lastMessageText, responseMessagesOf } from '../parts/messages/messages.ts'
import type { ObjectVersion } from './kinds.ts'
import { readVersion, tableOf } from './object-reads.ts'
import { oldVersionText } from './save-version.ts'

/** Limit: datasets that are suggested. */
const DATASETS_MAX = 1000
/** Limit: tries to publish one row. Of those who try at once, one succeeds. */
const TRIES_MAX = 20
/** Longest pause before the second try; those who try at once part from each other by it. */
const PAUSE_MS = 100
/** Rows sent in one request; a row may be large. */
const ROWS_SENT = 100

/** The inputs, and what the call answered as what an evaluation expects. */
export function rowOf({ inputs, output }: Call): object {
  // The object whose method was called; a row is given to other models, too.
  const { self: _, ...given } = membersOf(inputs)
  return {
    ...given,
    expected: given.expected ?? lastMessageText(responseMessagesOf(output)) ?? output ?? null,
  }
}

export async function listDatasets(
  project_id: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const body = {
    project_id,
    filter: { latest_only: true, base_object_classes: ['Dataset'] },
    metadata_only: true,
    limit: DATASETS_MAX,
  }
  const { objs } = await requestJson<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })
  return objs.map(({ object_id }) => object_id)
}

/**
 * Publishes the next version of a dataset, or its first one, on top of the latest alone: when others publish
 * meanwhile, the rows are added to what they published.
 *
 * @throws ApiFailure, Error when the object is none, others publish all the time, or its rows are those of an old version
 */
export async function addRows(
  project_id: string,
  object_id: string,
  rows: readonly object[],
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    await pause(Math.random() * tries * PAUSE_MS)
    const before = await readNamed(project_id, object_id, 'latest')
    try {
      const updates = rows.map((row) => ({ append: { row } }))
      const digest = await publishRows(project_id, object_id, before, updates)
      const made = before && (await readNamed(project_id, object_id, digest))
      if (made && made.version_index < before.version_index)
        throw new Error(oldVersionText(made, before, rows.length === 1 ? 'this row' : 'these rows'))
      return
    } catch (error) {
      if (!(error instanceof ApiFailure && error.code === 'object_conflict')) throw error
    }
  }
  throw new Error(`Others change ${object_id} all the time: nothing was added.`)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Publishes a version with changed rows on top of the latest one.
 *
 * @param before - the latest version; null: the dataset is new
 * @param members - further members of the content
 * @returns its digest
 * @throws ApiFailure object_conflict, when another version is the latest; Error when the object is no dataset
 */
export async function publishRows(
  project_id: string,
  object_id: string,
  before: ObjectVersion | null,
  updates: readonly TableUpdate[],
  members: object = {},
): Promise<string> {
  const content = before === null ? null : membersOf(before.val)
  let digest = tableOf(content)
  if (before !== null && digest === null) throw new Error(`${object_id} is not a dataset.`)
  digest ??= await createTable(project_id)
  for (let at = 0; at < updates.length; at += ROWS_SENT)
    digest = await updateTable(project_id, digest, updates.slice(at, at + ROWS_SENT))
  const rows = `${refScheme()}:///${project_id}/table/${digest}`
  const val = { ...(content ?? newDataset(object_id)), ...members, rows }
  const obj = { project_id, object_id, val, expected_latest: before?.version_index ?? -1 }
  return (await requestJson<{ digest: string }>('/obj/create', { obj })).digest
}

async function createTable(project_id: string): Promise<string> {
  const table = { project_id, rows: [] }
  return (await requestJson<{ digest: string }>('/table/create', { table })).digest
}

async function updateTable(
  project_id: string,
  base_digest: string,
  updates: readonly TableUpdate[],
): Promise<string> {
  const body = { project_id, base_digest, updates }
  return (await requestJson<{ digest: string }>('/table/update', body)).digest
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
