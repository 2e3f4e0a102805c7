/** Copies everything but calls from one store to another, and compares the two. */
import {
  COPIED_TABLES,
  type CopiedRow,
  type CopiedTable,
  CopyError,
  type CopySource,
  type CopyStage,
  type CopyTarget,
} from '../api/copy.ts'
import { createChecksum } from './checksum.ts'

/** Reports progress. */
type OnProgress = (step: 'copied' | 'compared', table: string, rows: number, total: number) => void

/** What both stores hold of a table in the end. */
interface CopiedRows {
  readonly table: string
  readonly rows: number
  /** Equal for equal rows, in any order. */
  readonly checksum: string
}

/** Limit: rows in one write. */
const BATCH_ROWS = 1000
/** Limit: bytes in one write; a single row may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024

/**
 * Copies all tables into an empty store. Servers see none of it until all of it is copied and compared. An interrupted
 * copy is resumed, or restarted when the source has changed since.
 *
 * @returns what both hold. A store that holds the same already is left unchanged
 * @throws CopyError when the other store holds something else, or the two differ in the end
 */
export async function copyRest(
  source: CopySource,
  target: CopyTarget,
  onProgress: OnProgress,
): Promise<readonly CopiedRows[]> {
  const filled = await target.findFilled()
  if (filled !== null) {
    const served = await compare(source, target, 'served', onProgress)
    if (served.differing === null) return served.copied
    throw new CopyError(
      `PostgreSQL holds something else already (see its table ${filled}): name an empty database`,
    )
  }
  const isResumed = await target.begin()
  let staged = await copyAndCompare(source, target, onProgress)
  if (staged.differing !== null && isResumed) {
    await target.discard()
    await target.begin()
    staged = await copyAndCompare(source, target, onProgress)
  }
  if (staged.differing !== null) {
    await target.discard()
    throw new CopyError(`the rows of ${staged.differing} differ in both; the copy was removed`)
  }
  await target.publish()
  return staged.copied
}

async function copyAndCompare(source: CopySource, target: CopyTarget, onProgress: OnProgress) {
  for (const table of COPIED_TABLES) await copyTable(source, target, table, onProgress)
  return compare(source, target, 'staged', onProgress)
}

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  table: CopiedTable,
  onProgress: OnProgress,
): Promise<void> {
  const total = source.countRows(table)
  const after = await target.findPlace(table)
  let [rows, bytes, batch] = [0, 0, [] as CopiedRow[]]
  const end = async () => {
    if (batch.length === 0) return
    await target.write(table, batch)
    rows += batch.length
    ;[bytes, batch] = [0, []]
    onProgress('copied', table.name, rows, total)
  }
  for await (const row of source.rows(table, after)) {
    const size = sizeOf(row)
    if (bytes + size > BATCH_BYTES || batch.length === BATCH_ROWS) await end()
    batch.push(row)
    bytes += size
  }
  await end()
}

/** Returns the approximate size of a row's values: characters of texts, bytes of blobs, and a fixed size per number. */
function sizeOf(row: CopiedRow): number {
  return Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string' || Buffer.isBuffer(value)) return sum + value.length
    return sum + (Array.isArray(value) ? value.length * NUMBER_BYTES : NUMBER_BYTES)
  }, 0)
}

const NUMBER_BYTES = 8

/** Reads all tables of both stores and compares them. @returns the first table that differs, or null */
async function compare(
  source: CopySource,
  target: CopyTarget,
  stage: CopyStage,
  onProgress: OnProgress,
): Promise<{ readonly differing: string | null; readonly copied: readonly CopiedRows[] }> {
  const copied: CopiedRows[] = []
  for (const table of COPIED_TABLES) {
    const read = await sumSource(source, table)
    const found = createSum(table)
    await target.readRows(stage, table, read.columns ?? table.key, (row) => {
      found.add(row)
      if (found.rows() % BATCH_ROWS === 0) {
        onProgress('compared', table.name, found.rows(), read.sum.rows)
      }
    })
    const there = found.end()
    if (there.rows !== read.sum.rows || there.checksum !== read.sum.checksum) {
      return { differing: table.name, copied }
    }
    if (there.rows > 0) onProgress('compared', table.name, there.rows, there.rows)
    copied.push(there)
  }
  return { differing: null, copied }
}

async function sumSource(source: CopySource, table: CopiedTable) {
  const sum = createSum(table)
  let columns: readonly string[] | null = null
  for await (const row of source.rows(table, null)) {
    columns ??= Object.keys(row)
    sum.add(row)
  }
  return { sum: sum.end(), columns }
}

function createSum({ name: table }: CopiedTable) {
  const checksum = createChecksum()
  let rows = 0
  return {
    rows: () => rows,
    add(row: CopiedRow) {
      rows += 1
      checksum.add(row)
    },
    end: (): CopiedRows => ({ table, rows, checksum: checksum.end() }),
  }
}
