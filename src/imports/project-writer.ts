/** Writes pages of imported data through the contracts of the stores. What is stored already stays as it is. */
import { writeRuns } from '../otel/record-spans.ts'
import { packBatches } from '../otel/span-batches.ts'
import type { Stores } from '../store/api/stores.ts'
import { createObjectWriter, writeFile } from './object-writer.ts'
import { createLeftCounts, IMPORT_USER, type ImportPage, type ImportTarget } from './source.ts'

/** Numbers of what was read; what was stored before counts, too. */
export const COUNT_NAMES = ['calls', 'feedback', 'datasets', 'rows', 'objects', 'files'] as const
export type ImportCounts = Record<(typeof COUNT_NAMES)[number], number>

export interface WrittenPage {
  readonly counts: ImportCounts
  readonly left: Readonly<Record<string, number>>
}

/** Where pages go; objects and datasets are written in their order, because it numbers their versions. */
export function createProjectWriter(
  stores: Pick<Stores, 'calls' | 'feedback' | 'files' | 'objects' | 'tables'>,
  target: ImportTarget,
  nowUs: () => number,
) {
  const { calls, feedback } = stores
  const { project_id, refScheme } = target
  const { writeDataset, writeTable, writeObject } = createObjectWriter(stores, target, nowUs)

  return {
    /** Resolves when all is durable. @throws ApiError */
    async write(page: ImportPage): Promise<WrittenPage> {
      const left = createLeftCounts()
      for (const [reason, count] of Object.entries(page.left ?? {})) left.add(reason, count)
      for (const file of page.files ?? []) {
        const reason = await writeFile(stores, project_id, file)
        if (reason !== undefined) left.add(reason)
      }
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
      for (const table of page.tables ?? []) {
        const written = await writeTable(table)
        if (written === null) left.add('tables that are missing there, or have another digest here')
        else rows += written
      }
      for (const object of page.objects ?? []) await writeObject(object)
      return {
        left: left.counts,
        counts: {
          calls: parts.length,
          feedback: given.length,
          datasets: page.datasets?.length ?? 0,
          rows,
          objects: page.objects?.length ?? 0,
          files: page.files?.length ?? 0,
        },
      }
    },
  }
}
