/** Stores the records of an exported project through the contracts of the stores. */
import type { Readable } from 'node:stream'
import { toCopiedParts } from '../domain/calls/copied-call.ts'
import { digestOfRows } from '../domain/objects/digests.ts'
import type { Stores } from '../store/api/stores.ts'
import { type Manifest, readRecords } from './export-folder.ts'
import { ExportFolderError, type ProjectRecord, type RecordKindName } from './record-kinds.ts'
import { toCall, toFeedback, toObject, toRow } from './record-values.ts'

/** Limit: records in one write. */
const BATCH_RECORDS = 500
/** Limit: characters of the rows of a table in one write. */
const BATCH_CHARS = 4 * 1024 * 1024
/** Paths of files in the folder; no other file is read. */
const FILE_PATH = /^files\/\d{1,12}$/

interface ProjectImport {
  readonly folder: string
  readonly manifest: Manifest
  /** URI scheme of the refs to find in inputs and outputs of calls. */
  readonly refScheme: string
  /** Null for a missing file. */
  readonly openFile: (path: string) => Readable | null
}

type Import = (stores: Stores, project: ProjectImport) => Promise<void>

/** Imports in this order: calls refer to objects, and objects to tables and files. */
const IMPORTS: readonly Import[] = [
  importFiles,
  importTables,
  importObjects,
  importFeedback,
  importCalls,
]

/**
 * What is stored already stays as it is.
 *
 * @throws ExportFolderError for a record that is wrong, or differs from a stored one; ApiError
 */
export async function importProject(stores: Stores, project: ProjectImport): Promise<void> {
  for (const run of IMPORTS) await run(stores, project)
}

const recordsOf = ({ folder, manifest }: ProjectImport, name: RecordKindName) =>
  readRecords(folder, manifest, name)

async function importFiles({ files }: Stores, project: ProjectImport): Promise<void> {
  for await (const { digest, path } of recordsOf(project, 'files')) {
    const content = FILE_PATH.test(String(path)) ? project.openFile(String(path)) : null
    if (content === null) throw new ExportFolderError(`${path} is not a file of ${project.folder}`)
    const received = await files.receiveFile(content)
    if (received.digest !== digest) {
      await received.discard()
      throw new ExportFolderError(`${path} has the digest ${received.digest}, not ${digest}`)
    }
    await received.keep(project.manifest.project_id)
  }
}

async function importTables({ tables }: Stores, project: ProjectImport): Promise<void> {
  const { project_id } = project.manifest
  let [table, rowDigests] = ['', [] as string[]]
  const endTable = async () => {
    if (rowDigests.length === 0) return
    const digest = digestOfRows(rowDigests)
    if (digest !== table) throw new ExportFolderError(`a table is ${digest}, not ${table}`)
    await tables.createTable(project_id, table, rowDigests)
  }
  for await (const batch of batchesOf(recordsOf(project, 'table_rows'))) {
    await tables.insertRows(project_id, batch.map(toRow))
    for (const { table_digest, digest } of batch) {
      if (table !== table_digest) {
        await endTable()
        ;[table, rowDigests] = [String(table_digest), []]
      }
      rowDigests.push(String(digest))
    }
  }
  await endTable()
  for await (const { digest, row_count } of recordsOf(project, 'tables')) {
    if (row_count === 0) await tables.createTable(project_id, String(digest), [])
    const stored = await tables.findTable(project_id, String(digest))
    if (stored?.row_count === row_count) continue
    throw new ExportFolderError(`the table ${digest} has not ${row_count} rows`)
  }
}

async function importObjects({ objects }: Stores, project: ProjectImport): Promise<void> {
  const { project_id } = project.manifest
  let pending = new Map<unknown, ProjectRecord>()
  const store = async () => {
    const batch = [...pending.values()]
    pending = new Map()
    await Promise.all(batch.map((record) => objects.createObject(toObject(record, project_id))))
  }
  for await (const record of recordsOf(project, 'objects')) {
    // Versions of an object are numbered in the order in which they come.
    if (pending.has(record.object_id) || pending.size === BATCH_RECORDS) await store()
    pending.set(record.object_id, record)
  }
  await store()
  for await (const record of recordsOf(project, 'objects')) {
    await restoreState(objects, record, project_id)
  }
}

/** Tags, aliases and deletions, after all versions exist. */
async function restoreState(
  objects: Stores['objects'],
  { object_id, digest, version_index, deleted_at, tags, aliases }: ProjectRecord,
  project_id: string,
): Promise<void> {
  const [object, version] = [String(object_id), String(digest)]
  const stored = await objects.findObject(project_id, object, version, false)
  if (stored?.version_index !== version_index) {
    const has = `is v${stored?.version_index} in ${project_id}, not v${version_index}`
    throw new ExportFolderError(`the version ${digest} of ${object} ${has}`)
  }
  if (deleted_at !== null && deleted_at !== undefined) {
    await objects.deleteObjects(project_id, object, [version], Number(deleted_at))
    return
  }
  const marks = (names: unknown) => ({
    project_id,
    object_id: object,
    version,
    names: JSON.parse(String(names)) as string[],
  })
  if (tags !== '[]') await objects.addTags(marks(tags))
  if (aliases !== '[]') await objects.setAliases(marks(aliases))
}

async function importFeedback({ feedback }: Stores, project: ProjectImport): Promise<void> {
  const { project_id } = project.manifest
  for await (const batch of batchesOf(recordsOf(project, 'feedback'))) {
    const results = await feedback.createFeedbackBatch(
      batch.map((record) => toFeedback(record, project_id)),
    )
    const failed = results.find((result) => result instanceof Error)
    if (failed instanceof Error) throw failed
  }
}

async function importCalls({ calls }: Stores, project: ProjectImport): Promise<void> {
  const { manifest, refScheme } = project
  for await (const batch of batchesOf(recordsOf(project, 'calls'))) {
    const results = await calls.writeParts(
      batch.map((record) => toCopiedParts(toCall(record, manifest.project_id), refScheme)),
    )
    const refused = results.findIndex(({ error }) => error)
    if (refused < 0) continue
    throw new ExportFolderError(`the call ${batch[refused]?.id} exists with different content`)
  }
}

async function* batchesOf(records: AsyncIterable<ProjectRecord>): AsyncGenerator<ProjectRecord[]> {
  let [batch, characters] = [[] as ProjectRecord[], 0]
  for await (const record of records) {
    batch.push(record)
    for (const value of Object.values(record)) {
      characters += typeof value === 'string' ? value.length : 0
    }
    if (batch.length < BATCH_RECORDS && characters < BATCH_CHARS) continue
    yield batch
    ;[batch, characters] = [[], 0]
  }
  if (batch.length > 0) yield batch
}
