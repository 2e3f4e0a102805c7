/** Tables in SQLite: blocks of keys of contents. Long lists are processed in slices, between which other work runs. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError } from '../../../errors.ts'
import type { NewRow, StoredTable, TableRow, TableStore } from '../../api/objects/tables.ts'
import { includesKey } from '../../base/objects/sorted-keys.ts'
import * as BASE from '../../base/objects/tables.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'
import * as SQL from './contents.sql.ts'
import { openTableBlocks, toBlock } from './table-blocks.ts'

/** Limit: rows of one group, which takes about a millisecond of the event loop. */
const GROUP_ROWS = 512
/** Limit: characters of contents of one group. */
const GROUP_CHARACTERS = 1_048_576

/** @param db - for reads on this thread */
export function createTableStore(db: Connection, writes: Writes, reads: ReadPool): TableStore {
  const findTable = db.prepare(BASE.FIND_TABLE)
  const findRow = db.prepare(BASE.FIND_ROW)
  const findDigest = db.prepare(SQL.FIND_ROW_DIGEST).pluck()
  const rowKeys = createRowKeys(db)

  return {
    async insertRows(project_id, rows) {
      for (const group of groupRows(rows)) {
        await writes.run('insert_rows', { project_id, rows: group })
      }
    },
    async createTable(project_id, digest, rowDigests) {
      const { keys, bytes } = await rowKeys.list(project_id, rowDigests)
      const table = { project_id, digest, storage_size_bytes: bytes, row_count: keys.length }
      await writes.run('create_table', { ...table, blocks: toBlocks(keys) })
    },
    async findTable(project_id, digest) {
      return orStoreError(
        () => (findTable.get({ project_id, digest }) as StoredTable | undefined) ?? null,
      )
    },
    async listRowDigests(table) {
      const blocks = openTableBlocks(db, table)
      const digests: string[] = []
      for (let place = 0; place < table.row_count; place++) {
        if (place % GROUP_ROWS === 0) await nextTurn()
        digests.push(orStoreError(() => findDigest.get(blocks.keyAt(place)) as string))
      }
      return digests
    },
    async indexRows(table) {
      const keys = await readSortedKeys(db, table)
      return {
        async findRow(digest) {
          const key = rowKeys.find(table.project_id, digest)?.value_key
          if (key === undefined || !includesKey(keys, key)) return null
          return orStoreError(() => findRow.get({ value_key: key }) as NewRow)
        },
      }
    },
    async findIndexes(table, rowDigests) {
      const wanted = await rowKeys.set(table.project_id, rowDigests)
      const blocks = openTableBlocks(db, table)
      const places: number[] = []
      if (wanted.size === 0) return places
      for (let place = 0; place < table.row_count; place++) {
        if (place % (8 * BASE.BLOCK_ROWS) === 0) await nextTurn()
        if (wanted.has(orStoreError(() => blocks.keyAt(place)))) places.push(place)
      }
      return places
    },
    sortIndexes: (table, sort, caller) => reads.run('table_order', { table, sort }, caller),
    async *readRows(table, places) {
      const blocks = openTableBlocks(db, table)
      let group: TableRow[] = []
      let characters = 0
      for (const original_index of places) {
        const row = orStoreError(
          () => findRow.get({ value_key: blocks.keyAt(original_index) }) as NewRow,
        )
        group.push({ ...row, original_index })
        characters += row.val_json.length
        if (group.length < GROUP_ROWS && characters < GROUP_CHARACTERS) continue
        yield group
        group = []
        characters = 0
        await nextTurn()
      }
      if (group.length > 0) yield group
    },
  }
}

/** Splits rows into groups that one transaction writes in a few milliseconds. */
function* groupRows(rows: readonly NewRow[]): Generator<readonly NewRow[]> {
  let from = 0
  let characters = 0
  for (const [at, { val_json }] of rows.entries()) {
    characters += val_json.length
    if (at - from + 1 < GROUP_ROWS && characters < 4 * GROUP_CHARACTERS) continue
    yield rows.slice(from, at + 1)
    from = at + 1
    characters = 0
  }
  if (from < rows.length) yield rows.slice(from)
}

/** Returns the keys of all rows, ascending: eight bytes per row. */
async function readSortedKeys(db: Connection, table: StoredTable): Promise<Float64Array> {
  const blocks = openTableBlocks(db, table)
  const keys = new Float64Array(table.row_count)
  for (let place = 0; place < keys.length; place++) {
    if (place % (8 * BASE.BLOCK_ROWS) === 0) await nextTurn()
    keys[place] = orStoreError(() => blocks.keyAt(place))
  }
  return keys.sort()
}

interface RowKey {
  readonly value_key: number
  readonly size_bytes: number
}

/** Maps digests of rows to their keys. */
function createRowKeys(db: Connection) {
  const findKey = db.prepare(SQL.FIND_ROW_KEY)
  const find = (project_id: string, digest: string) =>
    orStoreError(() => findKey.get({ project_id, digest }) as RowKey | undefined)

  return {
    find,
    /** Returns the keys in order, and the bytes of all rows. @throws ApiError validation_failed */
    async list(project_id: string, digests: readonly string[]) {
      const keys: number[] = []
      let bytes = 0
      for (const [at, digest] of digests.entries()) {
        if (at % GROUP_ROWS === 0) await nextTurn()
        const found = find(project_id, digest)
        if (!found) {
          const param = `row_digests[${at}]`
          throw new ApiError('validation_failed', { message: `${param} is not stored`, param })
        }
        keys.push(found.value_key)
        bytes += found.size_bytes
      }
      return { keys, bytes }
    },
    /** Returns the keys of those that exist. */
    async set(project_id: string, digests: readonly string[]) {
      const keys = new Set<number>()
      for (const [at, digest] of digests.entries()) {
        if (at % GROUP_ROWS === 0) await nextTurn()
        const found = find(project_id, digest)
        if (found) keys.add(found.value_key)
      }
      return keys
    },
  }
}

function toBlocks(keys: readonly number[]): Uint8Array[] {
  const blocks: Uint8Array[] = []
  for (let from = 0; from < keys.length; from += BASE.BLOCK_ROWS) {
    blocks.push(toBlock(keys.slice(from, from + BASE.BLOCK_ROWS)))
  }
  return blocks
}
