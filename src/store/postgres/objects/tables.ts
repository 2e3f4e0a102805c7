/** Tables in PostgreSQL: blocks of keys of contents. */
import { createTableOrder } from '../../../domain/objects/table-order.ts'
import { ApiError } from '../../../errors.ts'
import type { NewRow, StoredTable, TableStore } from '../../api/objects/tables.ts'
import { partsBySize } from '../../base/db/sizes.ts'
import { includesKey } from '../../base/objects/sorted-keys.ts'
import {
  BLOCK_ROWS,
  FIND_ROW,
  FIND_TABLE,
  INSERT_TABLE,
  INSERT_TABLE_BLOCK,
} from '../../base/objects/tables.sql.ts'
import type { Postgres } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { INSERT_JSON_VALUES } from './objects.sql.ts'
import { readDigests, readKeys, readRowsAt } from './table-rows.ts'
import * as SQL from './tables.sql.ts'

/** Limit: rows of one group. */
const GROUP_ROWS = 512
/** Limit: digests of one statement. */
const DIGESTS_READ = 10_000

interface FoundKey {
  readonly value_key: number | null
  readonly bytes: number | null
}

const goOn = () => undefined

export function createTableStore(db: Postgres, reads: Reads): TableStore {
  /** The keys of contents in the order of their digests. */
  async function findKeys(project_id: string, digests: readonly string[]): Promise<FoundKey[]> {
    const found: FoundKey[] = []
    for (const part of groupsOf(digests, DIGESTS_READ)) {
      found.push(...(await db.all<FoundKey>(SQL.FIND_ROW_KEYS, { project_id, digests: part })))
    }
    return found
  }

  return {
    async insertRows(project_id, rows) {
      const sized = rows.map((row) => ({ ...row, bytes: row.val_json.length }))
      for (const part of partsBySize(sized)) {
        // In a fixed order, so that concurrent writers of the same rows cannot deadlock.
        const sorted = part.toSorted((left, right) => (left.digest < right.digest ? -1 : 1))
        const digests = sorted.map(({ digest }) => digest)
        const texts = sorted.map(({ val_json }) => val_json)
        await db.transaction((tx) => tx.run(INSERT_JSON_VALUES, { project_id, digests, texts }))
      }
    },
    async createTable(project_id, digest, rowDigests) {
      const found = await findKeys(project_id, rowDigests)
      const missing = found.findIndex(({ value_key }) => value_key === null)
      if (missing !== -1) {
        const param = `row_digests[${missing}]`
        throw new ApiError('validation_failed', { message: `${param} is not stored`, param })
      }
      const keys = found.map(({ value_key }) => value_key)
      const storage_size_bytes = found.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
      const table = { project_id, digest, row_count: keys.length, storage_size_bytes }
      await db.transaction(async (tx) => {
        const inserted = await tx.first<{ table_key: number }>(INSERT_TABLE, table)
        if (inserted === undefined) return
        const { table_key } = inserted
        let block = 0
        for (const value_keys of groupsOf(keys, BLOCK_ROWS)) {
          await tx.run(INSERT_TABLE_BLOCK, { table_key, block, value_keys })
          block += 1
        }
      })
    },
    async findTable(project_id, digest) {
      return (await db.first<StoredTable>(FIND_TABLE, { project_id, digest })) ?? null
    },
    async listRowDigests(table) {
      const keys = await readKeys(db, table, goOn)
      const digests: string[] = []
      for (const part of groupsOf([...keys], DIGESTS_READ)) {
        const found = await readDigests(db, part)
        for (const key of part) digests.push(found.get(key)?.digest as string)
      }
      return digests
    },
    async indexRows(table) {
      const { project_id } = table
      const keys = (await readKeys(db, table, goOn)).sort()
      return {
        async findRow(digest): Promise<NewRow | null> {
          const [found] = await findKeys(project_id, [digest])
          const value_key = found?.value_key ?? null
          if (value_key === null || !includesKey(keys, value_key)) return null
          return (await db.first<NewRow>(FIND_ROW, { value_key })) ?? null
        },
      }
    },
    async findIndexes(table, rowDigests) {
      const found = await findKeys(table.project_id, rowDigests)
      const wanted = new Set(found.map(({ value_key }) => value_key))
      const places: number[] = []
      for (const [place, key] of (await readKeys(db, table, goOn)).entries()) {
        if (wanted.has(key)) places.push(place)
      }
      return places
    },
    sortIndexes: (table, sort, caller) =>
      reads.run(caller, async (checkpoint) => {
        const order = createTableOrder(sort, checkpoint)
        for (let from = 0; from < table.row_count; from += GROUP_ROWS) {
          checkpoint()
          const length = Math.min(GROUP_ROWS, table.row_count - from)
          const places = Array.from({ length }, (_, at) => from + at)
          for await (const rows of readRowsAt(db, table, places)) {
            for (const { val_json } of rows) order.add(JSON.parse(val_json))
          }
        }
        return order.places()
      }),
    async *readRows(table, places) {
      for (const group of groupsOf(places, GROUP_ROWS)) yield* readRowsAt(db, table, group)
    },
  }
}

function* groupsOf<T>(items: Iterable<T>, count: number): Generator<T[], void> {
  let group: T[] = []
  for (const item of items) {
    group.push(item)
    if (group.length < count) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
