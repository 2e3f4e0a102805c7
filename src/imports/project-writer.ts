/** Writes pages of imported data through the contracts of the stores. What is stored already stays as it is. */
import { renderJson } from '../domain/json/json-text.ts'
import { digestOfJson, digestOfRows } from '../domain/objects/digests.ts'
import { classContent, newObjectOf, objectIdOf } from '../domain/objects/object-kinds.ts'
import { writeRuns } from '../otel/record-spans.ts'
import { packBatches } from '../otel/span-batches.ts'
import type { Stores } from '../store/api/stores.ts'
import {
  createLeftCounts,
  IMPORT_USER,
  type ImportedDataset,
  type ImportedObject,
  type ImportPage,
  type ImportTarget,
} from './source.ts'

/** Limits of rows of a dataset in one write. */
const BATCH_ROWS = 500
const BATCH_CHARS = 4 * 1024 * 1024

/** Names of versions that are none already. */
const ALIAS = /^(?!latest$|v\d+$)[^\s\p{C}/:*]{1,128}$/u

const TAG = /^[-\p{L}\p{N}_]+(?: [-\p{L}\p{N}_]+)*$/u

/** Numbers of what was read; what was stored before counts, too. */
export const COUNT_NAMES = ['calls', 'feedback', 'datasets', 'rows', 'objects'] as const
export type ImportCounts = Record<(typeof COUNT_NAMES)[number], number>

export interface WrittenPage {
  readonly counts: ImportCounts
  readonly left: Readonly<Record<string, number>>
}

/** Where pages go; objects and datasets are written in their order, because it numbers their versions. */
export function createProjectWriter(
  { calls, feedback, objects, tables }: Pick<Stores, 'calls' | 'feedback' | 'objects' | 'tables'>,
  { project_id, refScheme }: ImportTarget,
  nowUs: () => number,
) {
  const { svc_user_id } = IMPORT_USER

  async function writeObject({ name, val, created_at_us, tags, aliases }: ImportedObject) {
    const object_id = objectIdOf(name)
    const object = newObjectOf(val, {
      project_id,
      object_id,
      svc_user_id,
      created_at_us: created_at_us ?? nowUs(),
    })
    const stored = await objects.findObject(project_id, object_id, object.digest)
    if (stored === null) await objects.createObject(object)
    const marks = { project_id, object_id, version: object.digest }
    const newOf = (names: readonly string[] = [], known = '[]') =>
      names.filter((one) => !(JSON.parse(known) as string[]).includes(one))
    const newTags = newOf(tags, stored?.tags_json).filter((name) => TAG.test(name))
    if (newTags.length > 0) await objects.addTags({ ...marks, names: newTags })
    const newAliases = newOf(aliases, stored?.aliases_json).filter((name) => ALIAS.test(name))
    if (newAliases.length > 0) await objects.setAliases({ ...marks, names: newAliases })
  }

  /** Only the digests of the rows stay in memory. */
  async function writeDataset({ name, description, created_at_us, rows }: ImportedDataset) {
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

  return {
    /** Resolves when all is durable. @throws ApiError */
    async write(page: ImportPage): Promise<WrittenPage> {
      const left = createLeftCounts()
      for (const [reason, count] of Object.entries(page.left ?? {})) left.add(reason, count)
      const parts = page.calls ?? []
      for (const batch of packBatches(parts)) {
        const { exceptions } = await calls.writePacked(batch, [project_id])
        const refused = exceptions.filter(([, { error }]) => error).length
        left.add('calls that are stored with other content', refused)
      }
      await writeRuns(page.runs ?? [], IMPORT_USER, { calls, refScheme })
      const given = page.feedback ?? []
      if (given.length > 0) {
        const results = await feedback.createFeedbackBatch(given)
        const refused = results.filter((result) => result instanceof Error).length
        left.add('feedback that is stored with other content', refused)
      }
      let rows = 0
      for (const dataset of page.datasets ?? []) rows += await writeDataset(dataset)
      for (const object of page.objects ?? []) await writeObject(object)
      return {
        left: left.counts,
        counts: {
          calls: parts.length,
          feedback: given.length,
          datasets: page.datasets?.length ?? 0,
          rows,
          objects: page.objects?.length ?? 0,
        },
      }
    },
  }
}
