/** Writes the records of a project to a folder. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { CallTexts } from '../domain/calls/call-view.ts'
import type { ProjectSource } from '../store/api/projects/project-source.ts'
import {
  createRecordWriter,
  discardExport,
  makeExportFolder,
  publishExport,
  type RecordCounts,
  writeManifest,
} from './export-folder.ts'
import {
  ExportFolderError,
  type ExportFormat,
  type ProjectRecord,
  RECORD_KIND_NAMES,
  type RecordKindName,
} from './record-kinds.ts'

/** Records of one write. */
const BATCH_RECORDS = 500

interface ExportTarget {
  /** Missing, empty, or left by an export that was killed. */
  readonly folder: string
  readonly format: ExportFormat
  readonly project_id: string
}

interface ExportedProject {
  readonly records: RecordCounts
  /** Files that are left out, as their bytes are missing. */
  readonly missing: number
}

/**
 * A failure leaves the folder empty; a kill leaves one without a manifest, which the next export empties.
 *
 * @throws ExportFolderError for a folder that is not empty, and a project without records
 */
export async function exportProject(
  source: ProjectSource,
  target: ExportTarget,
): Promise<ExportedProject> {
  const { folder, format, project_id } = target
  const partial = makeExportFolder(folder)
  try {
    const exported = await writeRecords(source, { ...target, folder: partial })
    const { records } = exported
    if (Object.values(records).every((count) => count === 0)) {
      throw new ExportFolderError(`there is nothing of a project ${project_id}`)
    }
    writeManifest(partial, { project_id, format, records })
    publishExport(partial, folder)
    return exported
  } catch (error) {
    discardExport(partial)
    throw error
  }
}

async function writeRecords(source: ProjectSource, target: ExportTarget) {
  let missing = 0
  async function* copyFiles(): AsyncGenerator<ProjectRecord> {
    let number = 0
    for await (const { digest, size_bytes, content } of source.files()) {
      if (content === null) {
        missing += 1
        continue
      }
      number += 1
      const path = `files/${number}`
      await pipeline(
        content,
        createWriteStream(join(target.folder, path), { flags: 'wx', mode: 0o600 }),
      )
      yield { digest, size_bytes, path }
    }
  }
  async function* calls(): AsyncGenerator<ProjectRecord> {
    for await (const page of source.calls()) yield* page.map(toCallRecord)
  }
  const sources: Record<RecordKindName, Iterable<ProjectRecord> | AsyncIterable<ProjectRecord>> = {
    files: copyFiles(),
    table_rows: source.tableRows(),
    tables: source.tables(),
    objects: source.objects(),
    feedback: source.feedback(),
    calls: calls(),
  }
  const counts = new Map<RecordKindName, number>()
  // Calls first: the databases share no snapshot, and what a call refers to is stored before it.
  for (const name of RECORD_KIND_NAMES.toReversed()) {
    counts.set(name, await writeAll(sources[name], name, target))
  }
  const records = Object.fromEntries(RECORD_KIND_NAMES.map((name) => [name, counts.get(name)]))
  return { records: records as RecordCounts, missing }
}

async function writeAll(
  records: Iterable<ProjectRecord> | AsyncIterable<ProjectRecord>,
  name: RecordKindName,
  { folder, format }: ExportTarget,
): Promise<number> {
  const writer = await createRecordWriter(folder, name, format)
  let [count, batch] = [0, [] as ProjectRecord[]]
  for await (const record of records) {
    count += 1
    batch.push(record)
    if (batch.length < BATCH_RECORDS) continue
    await writer.write(batch)
    batch = []
  }
  await writer.write(batch)
  await writer.end()
  return count
}

function toCallRecord(call: CallTexts): ProjectRecord {
  const {
    project_id: _project,
    storage_size_bytes: _size,
    usage_counted_in: _counted,
    ...more
  } = call
  const { started_at_us, ended_at_us, attributes_json, inputs_json, ...rest } = more
  const { output_json, summary_json, otel_dump_json, ...named } = rest
  return {
    ...named,
    started_at: started_at_us,
    ended_at: ended_at_us,
    attributes: attributes_json,
    inputs: inputs_json,
    output: output_json,
    summary: summary_json,
    otel_dump: otel_dump_json,
  }
}
