/** The folder of an export: a manifest, a file for each kind of records, and the bytes of uploaded files. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ProjectId } from '../schemas/primitives.ts'
import { createJsonlWriter, readJsonl } from './jsonl-files.ts'
import {
  EXPORT_FORMATS,
  ExportFolderError,
  type ExportFormat,
  type ProjectRecord,
  RECORD_KIND_NAMES,
  RECORD_KINDS,
  type RecordKindName,
} from './record-kinds.ts'
import type { RecordWriter } from './record-writer.ts'

const MANIFEST_FILE = 'manifest.json'
/** Raised by a change that older versions cannot read. */
const VERSION = 1

const Manifest = z.strictObject({
  version: z.literal(VERSION),
  project_id: ProjectId,
  format: z.enum(EXPORT_FORMATS),
  records: z.record(z.enum(RECORD_KIND_NAMES), z.int().min(0)),
})
export type Manifest = z.output<typeof Manifest>

/** Records by kind. */
export type RecordCounts = Manifest['records']

const pathOf = (folder: string, kind: RecordKindName, format: ExportFormat) =>
  join(folder, `${kind}.${format}`)

/** The folder inside of that of an export in which its process writes until everything is there. */
const PARTIAL = /^\.partial-(\d+)$/

/**
 * Makes the folder, which must be missing, empty, or left by an export that was killed: then it is emptied.
 *
 * @returns the folder to write into, until publishExport
 * @throws ExportFolderError
 */
export function makeExportFolder(folder: string): string {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const writers = names.flatMap((name) => PARTIAL.exec(name)?.[1] ?? []).map(Number)
  const [running] = writers.filter(isOtherProcess)
  if (running !== undefined) {
    throw new ExportFolderError(`the process ${running} exports to ${folder}`)
  }
  const isLeft = writers.length > 0 && names.every(isOfExport)
  if (names.length > 0 && !isLeft) throw new ExportFolderError(`${folder} is not empty`)
  for (const name of names) rmSync(join(folder, name), { recursive: true })
  const partial = join(folder, `.partial-${process.pid}`)
  mkdirSync(join(partial, 'files'), { recursive: true, mode: 0o700 })
  return partial
}

/** Whether a process runs that is not this one, which may have the number of one that was killed. */
function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether a name is one of those in the folder of an export that is not whole: it has no manifest. */
function isOfExport(name: string): boolean {
  const files = RECORD_KIND_NAMES.flatMap((kind) =>
    EXPORT_FORMATS.map((format) => `${kind}.${format}`),
  )
  return PARTIAL.test(name) || name === 'files' || files.includes(name)
}

/** Moves what was written to where it belongs, the manifest last. */
export function publishExport(partial: string, folder: string): void {
  const names = readdirSync(partial).filter((name) => name !== MANIFEST_FILE)
  for (const name of [...names, MANIFEST_FILE]) renameSync(join(partial, name), join(folder, name))
  rmdirSync(partial)
}

/** Removes what a failed export has written. */
export function discardExport(partial: string): void {
  rmSync(partial, { recursive: true, force: true })
}

/** The writer and the reader of a format; Parquet's library is loaded only for what needs it. */
async function openFormat(format: ExportFormat) {
  if (format === 'jsonl') return { createWriter: createJsonlWriter, read: readJsonl }
  const { createParquetWriter, readParquet } = await import('./parquet-files.ts')
  return { createWriter: createParquetWriter, read: readParquet }
}

export async function createRecordWriter(
  folder: string,
  name: RecordKindName,
  format: ExportFormat,
): Promise<RecordWriter> {
  const { createWriter } = await openFormat(format)
  return createWriter(pathOf(folder, name, format), RECORD_KINDS[name])
}

/** Written last: a folder without it is incomplete. */
export function writeManifest(folder: string, manifest: Omit<Manifest, 'version'>): void {
  const text = JSON.stringify({ version: VERSION, ...manifest }, null, 2)
  writeFileSync(join(folder, MANIFEST_FILE), `${text}\n`, { flag: 'wx', mode: 0o600 })
}

/** @throws ExportFolderError */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE)
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ExportFolderError(`${path} cannot be read: ${(error as Error).message}`)
  }
  const { data, error } = Manifest.safeParse(value)
  if (data) return data
  const [issue] = error.issues
  throw new ExportFolderError(`${path}: ${issue?.path.join('.')} ${issue?.message}`)
}

/** Reads the records of a kind, and checks their number in the end. @throws ExportFolderError */
export async function* readRecords(
  folder: string,
  { format, records }: Manifest,
  name: RecordKindName,
): AsyncGenerator<ProjectRecord> {
  const path = pathOf(folder, name, format)
  if (!existsSync(path)) throw new ExportFolderError(`${path} is missing`)
  const { read } = await openFormat(format)
  let count = 0
  for await (const record of read(path, RECORD_KINDS[name])) {
    count += 1
    yield record
  }
  if (count === records[name]) return
  throw new ExportFolderError(`${path} has ${count} records, the manifest says ${records[name]}`)
}
