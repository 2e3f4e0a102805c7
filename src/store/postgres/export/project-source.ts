/** Reads what a project has besides calls for an export, in one snapshot, on a connection of its own. */
import { Readable } from 'node:stream'
import type { OtherRecords, SourceFile, SourceRow } from '../../api/projects/project-source.ts'
import { partsBySize } from '../../base/db/sizes.ts'
import * as BASE from '../../base/projects/project-records.sql.ts'
import { CHUNK_BYTES } from '../blobs/blobs.ts'
import { type Statements, statementsOf } from '../db/client.ts'
import { openOwnConnection, requireMigrated } from '../db/migrate.ts'
import { describe } from '../db/store-error.ts'
import { FIND_CHUNK } from '../objects/files.sql.ts'
import * as SQL from './project-source.sql.ts'

/** Limits: rows of one fetch, and those with the keys of 1,024 rows. */
const NARROW_ROWS = 500
const WIDE_ROWS = 20

/** @throws MigrationError when PostgreSQL cannot be reached, or has another version */
export async function openOtherRecords(url: string, project_id: string): Promise<OtherRecords> {
  const client = await openOwnConnection(url)
  const db = withFailures(statementsOf(client))
  try {
    await requireMigrated(db)
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
  const { list, listBySize } = createLists(db, project_id)
  return {
    feedback: () => listBySize<SourceRow>(BASE.LIST_FEEDBACK, SQL.SIZE_FEEDBACK),
    objects: () => listBySize<SourceRow>(SQL.LIST_OBJECTS, SQL.SIZE_OBJECTS),
    tables: () => list<SourceRow>(BASE.LIST_TABLES, NARROW_ROWS),
    async *tableRows() {
      type Block = { table_digest: string; value_keys: readonly string[] }
      let [table, original_index] = ['', 0]
      for await (const block of list<Block>(BASE.LIST_TABLE_BLOCKS, WIDE_ROWS)) {
        const { table_digest, value_keys } = block
        if (table_digest !== table) [table, original_index] = [table_digest, 0]
        for await (const value of readValues(db, value_keys.map(Number))) {
          yield { table_digest, original_index, ...value }
          original_index += 1
        }
      }
    },
    async *files() {
      type FileRow = Omit<SourceFile, 'content'> & { file_key: number }
      for await (const file of list<FileRow>(SQL.LIST_FILES, NARROW_ROWS)) {
        const { file_key, digest, size_bytes } = file
        yield { digest, size_bytes, content: Readable.from(readChunks(db, file_key, size_bytes)) }
      }
    },
    close: () => client.end().catch(() => undefined),
  }
}

/** Lists are read with cursors, whose snapshot is that of the transaction. Until the first one nothing is open. */
export function createLists(db: Statements, project_id: string) {
  let cursors = 0

  async function openCursor(sql: string) {
    if (cursors === 0) await db.run(SQL.BEGIN)
    cursors += 1
    const name = `export_${cursors}`
    await db.run(SQL.declareCursor(name, sql), { project_id })
    return {
      fetch: <Row>(count: number) => db.all<Row>(SQL.fetchRows(name, count)),
      close: () => db.run(SQL.closeCursor(name)),
    }
  }

  async function* list<Row>(sql: string, count: number): AsyncGenerator<Row> {
    const cursor = await openCursor(sql)
    for (;;) {
      const rows = await cursor.fetch<Row>(count)
      yield* rows
      if (rows.length < count) break
    }
    await cursor.close()
  }

  /** Lists rows with large texts, of which it has a bounded number of bytes at a time. @param sizes - `bytes`, in the same order */
  async function* listBySize<Row>(sql: string, sizes: string): AsyncGenerator<Row> {
    const cursor = await openCursor(sql)
    const sized = await openCursor(sizes)
    for (;;) {
      const next = await sized.fetch<{ bytes: number }>(NARROW_ROWS)
      for (const part of partsBySize(next)) yield* await cursor.fetch<Row>(part.length)
      if (next.length < NARROW_ROWS) break
    }
    await sized.close()
    await cursor.close()
  }

  return { list, listBySize }
}

/** The contents of a block in its order, which may have a key twice. */
async function* readValues(db: Statements, keys: readonly number[]) {
  type Size = { value_key: number; bytes: number }
  const sizes = await db.all<Size>(SQL.FIND_SIZES, { keys })
  const bytesOf = new Map(sizes.map(({ value_key, bytes }) => [value_key, bytes]))
  const sized = keys.map((value_key) => ({ value_key, bytes: bytesOf.get(value_key) ?? 0 }))
  for (const part of partsBySize(sized)) {
    type Value = { value_key: number; digest: string; val: string }
    const found = await db.all<Value>(SQL.FIND_VALUES, { keys: part.map((one) => one.value_key) })
    const values = new Map(found.map(({ value_key, ...value }) => [value_key, value]))
    for (const { value_key } of part) yield values.get(value_key)
  }
}

async function* readChunks(
  db: Statements,
  file_key: number,
  size_bytes: number,
): AsyncGenerator<Buffer> {
  for (let chunk = 0; chunk * CHUNK_BYTES < size_bytes; chunk++) {
    const row = await db.first<{ content: Buffer }>(FIND_CHUNK, { file_key, chunk })
    if (row === undefined) throw new Error(`a file has no chunk ${chunk}`)
    yield row.content
  }
}

/** Statements whose failures are one line without their text. */
function withFailures(db: Statements): Statements {
  const fail = (error: unknown): never => {
    throw new Error(`WEFT_META_URL: ${describe(error)}`)
  }
  return {
    all: (...statement) => db.all<never>(...statement).catch(fail),
    first: (...statement) => db.first<never>(...statement).catch(fail),
    run: (...statement) => db.run(...statement).catch(fail),
  }
}
