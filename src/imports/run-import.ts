/** Runs an import: page by page from where an interrupted one has ended, with counts of what was read. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { COUNT_NAMES, type ImportCounts, type WrittenPage } from './project-writer.ts'
import { createLeftCounts, type ImportPage, type ImportSource } from './source.ts'

const Counts = z.record(z.string(), z.int().min(0))
const Checkpoint = z.strictObject({
  stage: z.string(),
  /** As of a page; of the stage. */
  cursor: z.string().nullable(),
  counts: z.object(
    Object.fromEntries(COUNT_NAMES.map((name) => [name, z.int().min(0)])) as Record<
      keyof ImportCounts,
      z.ZodInt
    >,
  ),
  left: Counts,
})
type Checkpoint = z.output<typeof Checkpoint>

interface ImportReport {
  readonly counts: ImportCounts
  /** What was left out, by why. */
  readonly left: Readonly<Record<string, number>>
}

interface CheckpointFile {
  /** Null without one, or for one that cannot be read. */
  read(): Checkpoint | null
  write(checkpoint: Checkpoint): void
  remove(): void
}

/**
 * The file with the position of an import, which exists while one has not ended.
 *
 * @param identity - what makes two imports the same: tool, location, projects
 */
export function openCheckpoint(dataDir: string, identity: readonly unknown[]): CheckpointFile {
  const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32)
  const path = join(dataDir, 'imports', `${name}.json`)
  return {
    read() {
      if (!existsSync(path)) return null
      try {
        return Checkpoint.parse(JSON.parse(readFileSync(path, 'utf8')))
      } catch {
        return null
      }
    },
    write(checkpoint) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(`${path}.new`, JSON.stringify(checkpoint), { mode: 0o600 })
      renameSync(`${path}.new`, path)
    },
    remove: () => rmSync(path, { force: true }),
  }
}

interface ImportRun {
  readonly source: ImportSource
  readonly write: (page: ImportPage) => Promise<WrittenPage>
  readonly checkpoint: CheckpointFile
  /** Called after each page. */
  readonly onPage: (stage: string, counts: ImportCounts) => void
}

/**
 * Each page is durable before its cursor is; a page that was stored without its cursor is read again and changes nothing.
 *
 * @throws what reading and writing throw: the checkpoint stays
 */
export async function runImport(run: ImportRun): Promise<ImportReport> {
  const { source, write, checkpoint, onPage } = run
  const from = checkpoint.read()
  const counts: ImportCounts = from?.counts ?? emptyCounts()
  const left = createLeftCounts()
  for (const [reason, count] of Object.entries(from?.left ?? {})) left.add(reason, count)
  const first = source.stages.findIndex(({ name }) => name === from?.stage)
  for (const [at, { name, pages }] of source.stages.entries()) {
    const cursor = at === first ? (from?.cursor ?? null) : null
    if (at < first || cursor === '') continue
    let position = cursor
    for await (const page of pages(cursor)) {
      const written = await write(page)
      for (const count of COUNT_NAMES) counts[count] += written.counts[count]
      for (const [reason, count] of Object.entries(written.left)) left.add(reason, count)
      // Not of a page that would be read again from the same cursor, and counted again.
      if (page.cursor !== position) {
        position = page.cursor
        checkpoint.write({ stage: name, cursor: position, counts, left: left.counts })
      }
      onPage(name, counts)
    }
  }
  checkpoint.remove()
  return { counts, left: left.counts }
}

function emptyCounts(): ImportCounts {
  return { calls: 0, feedback: 0, datasets: 0, rows: 0, objects: 0, files: 0 }
}
