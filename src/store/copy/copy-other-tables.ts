/** Copies everything but calls from one store to another, and compares the two. */
import {
  COPIED_TABLES,
  type CopiedRow,
  type CopiedTable,
  type CopiedTables,
  CopyError,
  type CopySource,
  type CopyTarget,
} from '../api/copy.ts'
import { createChecksum } from './copy-project.ts'

/** Reports progress. */
type OnProgress = (step: 'copied' | 'compared', table: string, rows: number, total: number) => void

/** The rows of a table that both stores hold in the end. */
interface CopiedSum {
  readonly table: string
  readonly rows: number
  /** Equal for equal rows, in any order. */
  readonly checksum: string
}

/** Limit: rows in one write. */
const BATCH_ROWS = 1000
/** Limit: bytes in one write; a single row may be larger. */
const BATCH_BYTES = 4 * 1024 * 1024
const NUMBER_BYTES = 8

/**
 * Copies all tables into an empty store, all or none of them.
 *
 * @returns what both hold
 * @throws CopyError when the other store holds something already, or the two differ in the end
 */
export function copyOtherTables(
  source: CopySource,
  target: CopyTarget,
  onProgress: OnProgress,
): Promise<readonly CopiedSum[]> {
  return target.fill(async (tables) => {
    const copied: CopiedSum[] = []
    for (const table of COPIED_TABLES) {
      copied.push(await copyTable(source, tables, table, onProgress))
    }
    return copied
  })
}

async function copyTable(
  source: CopySource,
  tables: CopiedTables,
  table: CopiedTable,
  onProgress: OnProgress,
): Promise<CopiedSum> {
  const total = source.countRows(table)
  const [sent, found] = [createSum(table), createSum(table)]
  let [bytes, batch] = [0, [] as CopiedRow[]]
  const end = async () => {
    await tables.write(table, batch)
    ;[bytes, batch] = [0, []]
    onProgress('copied', table.name, sent.rows(), total)
  }
  let columns: readonly string[] | null = null
  for await (const row of source.rows(table)) {
    columns ??= Object.keys(row)
    const size = sizeOf(row)
    if (batch.length === BATCH_ROWS || (batch.length > 0 && bytes + size > BATCH_BYTES)) await end()
    sent.add(row)
    batch.push(row)
    bytes += size
  }
  if (columns === null) return sent.end()
  await end()
  await tables.readRows(table, columns, (row) => {
    found.add(row)
    if (found.rows() % BATCH_ROWS === 0) onProgress('compared', table.name, found.rows(), total)
  })
  const [read, there] = [sent.end(), found.end()]
  if (read.rows !== there.rows || read.checksum !== there.checksum) {
    throw new CopyError(`the rows of ${table.name} differ in both; nothing was copied`)
  }
  onProgress('compared', table.name, there.rows, there.rows)
  return there
}

/** Returns the approximate size of a row's values: characters of texts, bytes of blobs, and a fixed size per number. */
function sizeOf(row: CopiedRow): number {
  return Object.values(row).reduce<number>((sum, value) => {
    if (typeof value === 'string' || Buffer.isBuffer(value)) return sum + value.length
    return sum + (Array.isArray(value) ? value.length * NUMBER_BYTES : NUMBER_BYTES)
  }, 0)
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
    end: (): CopiedSum => ({ table, rows, checksum: checksum.end() }),
  }
}
