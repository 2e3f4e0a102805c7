/**
 * Changes datasets item by item. Tables never change, so that a change makes a version of the dataset; changes that
 * arrive while one is made make the next one together.
 */
import { renderJson } from '../../domain/json/json-text.ts'
import { entryOf, type ItemEntry, mergeRow, parseRow } from '../../domain/langfuse/dataset-items.ts'
import { digestOfJson, digestOfRows } from '../../domain/objects/digests.ts'
import {
  classContent,
  isOfKind,
  newObjectOf,
  objectIdOf,
} from '../../domain/objects/object-kinds.ts'
import type { ObjectVersion } from '../../domain/objects/object-view.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { DatasetBody, DatasetItemBody } from '../../schemas/langfuse/dataset.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { NewRow } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'
import { type Dataset, type DatasetReader, ITEMS_MAX, itemNotFound } from './dataset-reader.ts'
import { createQueuedChanges } from './queued-changes.ts'

export interface DatasetWriterOptions
  extends Pick<Stores, 'objects' | 'tables'>,
    Pick<Clock, 'nowUs'> {
  readonly refScheme: string
}

/** Limit: attempts of a change before which others are published. */
const ATTEMPTS_MAX = 8

interface Who {
  readonly project_id: string
  readonly svc_user_id: string
}

/** An item to be stored, or the id of one to be removed. */
type ItemEdit =
  | { readonly put: DatasetItemBody & { readonly id: string } }
  | { readonly remove: string }

export function createDatasetWriter(options: DatasetWriterOptions, reader: DatasetReader) {
  const { objects, tables, refScheme, nowUs } = options
  const queue = createQueuedChanges<ItemEdit, NewRow | null>()

  async function publish(
    named: Who & { readonly object_id: string; readonly created_at_us: number },
    latest: ObjectVersion | null,
    val: object,
  ): Promise<void> {
    const expected_latest = latest?.version_index ?? -1
    await objects.createObject({ ...newObjectOf(val, named), expected_latest })
  }

  /** Stores a table of rows of which the new ones are given. @returns its ref */
  async function storeTable(project_id: string, rows: readonly NewRow[], digests: string[]) {
    const digest = digestOfRows(digests)
    await tables.insertRows(project_id, rows)
    await tables.createTable(project_id, digest, digests)
    return { digest, ref: `${refScheme}:///${project_id}/table/${digest}` }
  }

  /** Makes one version of all edits. @returns for each edit the row that it leaves, or its error */
  async function applyEdits(who: Who, name: string, edits: readonly ItemEdit[]) {
    const dataset = await reader.requireDataset(who.project_id, name)
    const created_at_us = nowUs()
    const { entries, made, results } = await editRows(reader, dataset, edits, created_at_us)
    const digests = entries.map(({ digest }) => digest)
    const { digest, ref: rows } = await storeTable(who.project_id, made, digests)
    // The time makes the version differ from an earlier one with the same rows.
    const val = { ...dataset.val, rows, updated_at: renderTimestamp(created_at_us) }
    const { object_id } = dataset.version
    await publish({ ...who, object_id, created_at_us }, dataset.version, val)
    reader.keepIndex(who.project_id, digest, entries)
    return results
  }

  /** Merges the fields of a request into the latest version, or into none. */
  async function mergeFields(who: Who, { name, ...sent }: DatasetBody): Promise<void> {
    const object_id = objectIdOf(name)
    const version = await objects.findObject(who.project_id, object_id, 'latest')
    const live = version?.deleted_at_us === null ? version : null
    if (live !== null && !isOfKind(live, 'dataset')) {
      const message = `There is an object ${object_id} that is no dataset.`
      throw new ApiError('object_conflict', { param: 'name', message })
    }
    const before = live && (await reader.readDataset(live)).val
    const rows = before?.rows ?? (await storeTable(who.project_id, [], [])).ref
    const created_at_us = nowUs()
    const at = renderTimestamp(created_at_us)
    const val = { created_at: at, name, ...before, ...fieldsOf(sent), rows, updated_at: at }
    await publish({ ...who, object_id, created_at_us }, live, classContent('dataset', val))
  }

  return {
    /** Creates a dataset, or changes the fields that are sent of one that is there. */
    async putDataset(who: Who, body: DatasetBody): Promise<Dataset> {
      await retryConflicts(() => mergeFields(who, body))
      return reader.requireDataset(who.project_id, body.name)
    },

    /** Changes one item. @throws ApiError object_not_found, validation_failed, server_overloaded */
    async changeItem(who: Who, name: string, edit: ItemEdit): Promise<NewRow | null> {
      const key = JSON.stringify([who.project_id, who.svc_user_id, name])
      return queue.add(key, edit, async (edits) =>
        retryConflicts(() => applyEdits(who, name, edits)),
      )
    },
  }
}

export type DatasetWriter = ReturnType<typeof createDatasetWriter>

/** Makes a change again, on what is the latest version then, when another one was published meanwhile. */
async function retryConflicts<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change()
    } catch (error) {
      const isConflict = error instanceof ApiError && error.param === 'obj.expected_latest'
      if (!isConflict || attempt === ATTEMPTS_MAX) throw error
    }
  }
}

/** The fields of a content that a request has. */
function fieldsOf(sent: Omit<DatasetBody, 'name'>): JsonObject {
  const fields = {
    description: sent.description,
    metadata: sent.metadata,
    input_schema: sent.inputSchema,
    expected_output_schema: sent.expectedOutputSchema,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Returns the entries of a dataset after some edits, with the new rows. */
async function editRows(
  reader: DatasetReader,
  dataset: Dataset,
  edits: readonly ItemEdit[],
  atUs: number,
) {
  const before = await reader.indexOf(dataset)
  const entries: ItemEntry[] = [...before]
  const made = new Map<string, NewRow>()

  async function findRow(entry: ItemEntry): Promise<NewRow | undefined> {
    const at = before.indexOf(entry)
    return made.get(entry.digest) ?? (await reader.readRows(dataset, at < 0 ? [] : [at]))[0]
  }

  async function edit(change: ItemEdit): Promise<NewRow | null | ApiError> {
    const id = 'put' in change ? change.put.id : change.remove
    const at = entries.findIndex((entry) => entry.id === id)
    const entry = entries[at]
    if ('remove' in change) {
      if (entry === undefined) return itemNotFound(id)
      entries.splice(at, 1)
      return null
    }
    if (entry === undefined && entries.length >= ITEMS_MAX) {
      const message = `The dataset has ${ITEMS_MAX} items already.`
      return new ApiError('validation_failed', { param: 'datasetName', message })
    }
    const stored = entry && (await findRow(entry))
    const val_json = renderJson(mergeRow(stored ? parseRow(stored) : null, change.put, atUs))
    const row = { digest: digestOfJson(val_json), val_json }
    made.set(row.digest, row)
    reader.keepHome(dataset, id)
    entries.splice(entry === undefined ? entries.length : at, 1, entryOf(row))
    return row
  }

  const results: (NewRow | null | ApiError)[] = []
  for (const change of edits) results.push(await edit(change))
  return { entries, made: [...made.values()], results }
}
