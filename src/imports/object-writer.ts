/** Writes the objects of imported data, and the tables and files that they name. What is stored already stays as it is. */
import { Readable } from 'node:stream'
import { renderJson } from '../domain/json/json-text.ts'
import { digestOfJson, digestOfRows } from '../domain/objects/digests.ts'
import { classContent, newObjectOf, objectIdOf } from '../domain/objects/object-kinds.ts'
import type { Stores } from '../store/api/stores.ts'
import {
  IMPORT_USER,
  type ImportedDataset,
  type ImportedFile,
  type ImportedObject,
  type ImportedTable,
  type ImportTarget,
} from './source.ts'

/** Limits of rows of a dataset in one write. */
const BATCH_ROWS = 500
const BATCH_CHARS = 4 * 1024 * 1024

/** Aliases, without `latest` and `v3`, which every object has by itself. */
const ALIAS = /^(?!latest$|v\d+$)[^\s\p{C}/:*]{1,128}$/u

const TAG = /^[-\p{L}\p{N}_]+(?: [-\p{L}\p{N}_]+)*$/u

/** Stores a file. @returns the reason why it was not stored, if there is one @throws ApiError */
export async function writeFile(
  { files }: Pick<Stores, 'files'>,
  project_id: string,
  { digest, read }: ImportedFile,
): Promise<string | undefined> {
  const stored = await files.findFile(project_id, digest)
  if (stored?.content instanceof Readable) stored.content.destroy()
  if (stored !== null) return
  const bytes = await read()
  if (bytes === null) return 'files that the tool does not have'
  const received = await files.receiveFile(Readable.from([bytes]))
  if (received.digest === digest) await received.keep(project_id)
  else await received.discard()
  if (received.digest !== digest) return 'files whose digest is another one here'
}

export function createObjectWriter(
  { objects, tables }: Pick<Stores, 'objects' | 'tables'>,
  { project_id, refScheme }: ImportTarget,
  nowUs: () => number,
) {
  /** Only the digests of the rows stay in memory. */
  async function writeRows(rows: AsyncIterable<object> | Iterable<object>): Promise<string[]> {
    const digests: string[] = []
    let [batch, characters] = [[] as { digest: string; val_json: string }[], 0]
    const store = async () => {
      if (batch.length > 0) await tables.insertRows(project_id, batch)
      ;[batch, characters] = [[], 0]
    }
    for await (const row of rows) {
      const val_json = renderJson(row)
      const digest = digestOfJson(val_json)
      digests.push(digest)
      batch.push({ digest, val_json })
      characters += val_json.length
      if (batch.length === BATCH_ROWS || characters > BATCH_CHARS) await store()
    }
    await store()
    return digests
  }

  /** Stores a table. @returns the number of its rows; null when they have another digest */
  async function writeTable({ digest, rows }: ImportedTable): Promise<number | null> {
    const stored = await tables.findTable(project_id, digest)
    if (stored !== null) return stored.row_count
    const digests = await writeRows(rows)
    if (digestOfRows(digests) !== digest) return null
    await tables.createTable(project_id, digest, digests)
    return digests.length
  }

  async function writeDataset({ name, description, created_at_us, rows }: ImportedDataset) {
    const digests = await writeRows(rows)
    const digest = digestOfRows(digests)
    await tables.createTable(project_id, digest, digests)
    const val = classContent('dataset', {
      name,
      description,
      rows: `${refScheme}:///${project_id}/table/${digest}`,
    })
    await writeObject({ name, val, created_at_us })
    return digests.length
  }

  async function writeObject(imported: ImportedObject) {
    const { name, val, created_at_us, tags, sourceDigest } = imported
    const object_id = objectIdOf(name)
    const object = newObjectOf(val, {
      project_id,
      object_id,
      svc_user_id: IMPORT_USER.svc_user_id,
      created_at_us: created_at_us ?? nowUs(),
    })
    const stored = await objects.findObject(project_id, object_id, object.digest)
    if (stored === null) await objects.createObject(object)
    const marks = { project_id, object_id, version: object.digest }
    const isOther = sourceDigest !== undefined && sourceDigest !== object.digest
    const aliases = [...(imported.aliases ?? []), ...(isOther ? [sourceDigest] : [])]
    const newOf = (names: readonly string[] = [], known = '[]') =>
      names.filter((one) => !(JSON.parse(known) as string[]).includes(one))
    const newTags = newOf(tags, stored?.tags_json).filter((name) => TAG.test(name))
    if (newTags.length > 0) await objects.addTags({ ...marks, names: newTags })
    const newAliases = newOf(aliases, stored?.aliases_json).filter((name) => ALIAS.test(name))
    if (newAliases.length > 0) await objects.setAliases({ ...marks, names: newAliases })
  }

  return { writeDataset, writeTable, writeObject }
}
