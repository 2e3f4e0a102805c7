/** Tables in SQLite and PostgreSQL alike: blocks of keys of contents. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTableOrder } from '../../../domain/objects/table-order.ts'
import { ApiError } from '../../../errors.ts'
import type {
  NewRow,
  StoredTable,
  TableRow,
  TableSort,
  TableStore,
} from '../../api/objects/tables.ts'
import type { Dialect } from '../db/dialect.ts'
import { partsBySize } from '../db/sizes.ts'
import { all, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import {
  BLOCK_ROWS,
  FIND_ROW,
  FIND_TABLE,
  INSERT_TABLE,
  INSERT_TABLE_BLOCK,
  tableStatements,
} from './tables.sql.ts'

/** Limits of one statement: rows with contents, keys of rows, and blocks. */
const ROWS_READ = 512
const KEYS_READ = 8 * BLOCK_ROWS
const BLOCKS_READ = 64

/** How a database stores the keys of a block. */
interface BlockFormat {
  toBlock(keys: readonly number[]): unknown
  /** Returns the key at an index of a block, as the database returns the block. */
  keyIn(value_keys: unknown, index: number): number
}

interface NewRows {
  readonly project_id: string
  readonly rows: readonly NewRow[]
}

interface NewTable extends Omit<StoredTable, 'table_key'> {
  /** From toBlock, in order. */
  readonly blocks: readonly unknown[]
}

/** Each is one transaction. */
export function createTableWrites(dialect: Dialect) {
  const { insertValues } = tableStatements(dialect)
  return {
    /** In a fixed order, so that concurrent writers of the same rows cannot deadlock. */
    *insert_rows({ project_id, rows }: NewRows): Steps<void> {
      const sorted = rows.toSorted((left, right) => (left.digest < right.digest ? -1 : 1))
      yield* insertValues(sorted.map((row) => ({ project_id, ...row })))
    },
    *create_table({ blocks, ...table }: NewTable): Steps<void> {
      const inserted = yield* first<Pick<StoredTable, 'table_key'>>(INSERT_TABLE, table)
      if (inserted === undefined) return
      const { table_key } = inserted
      for (const [block, value_keys] of blocks.entries()) {
        yield* run(INSERT_TABLE_BLOCK, { table_key, block, value_keys })
      }
    },
  }
}

export type TableWrites = ReturnType<typeof createTableWrites>

interface RowKey {
  readonly value_key: number
  readonly digest: string
  readonly bytes: number
}

interface PlacedRow extends RowKey {
  readonly original_index: number
}

/** The reads of rows by their indexes, keys or digests. */
function createRowReads(dialect: Dialect, { keyIn }: BlockFormat) {
  const SQL = tableStatements(dialect)

  /** Returns the keys of the rows at indexes, which must be inside the table. */
  function* keysAt({ table_key }: StoredTable, indexes: readonly number[]): Steps<number[]> {
    const blocks = new Map<number, unknown>()
    for (const part of groupsOf(new Set(indexes.map(blockOf)), BLOCKS_READ)) {
      type Block = { block: number; value_keys: unknown }
      const rows = yield* all<Block>(SQL.FIND_TABLE_BLOCKS, { table_key, blocks: part })
      for (const { block, value_keys } of rows) blocks.set(block, value_keys)
    }
    return indexes.map((index) => keyIn(blocks.get(blockOf(index)), index % BLOCK_ROWS))
  }

  /** Returns rows without contents, in order. */
  function* placeRows(table: StoredTable, indexes: readonly number[]): Steps<PlacedRow[]> {
    const keys = yield* keysAt(table, indexes)
    const rows = yield* all<RowKey>(SQL.FIND_ROW_DIGESTS, { keys })
    const found = new Map(rows.map((row) => [row.value_key, row]))
    return indexes.map((original_index, at) => ({
      ...(found.get(keys[at] as number) as RowKey),
      original_index,
    }))
  }

  function* readPlaced(part: readonly PlacedRow[]): Steps<TableRow[]> {
    type Row = { value_key: number; val_json: string }
    const keys = part.map(({ value_key }) => value_key)
    const rows = yield* all<Row>(SQL.FIND_ROWS, { keys })
    const texts = new Map(rows.map(({ value_key, val_json }) => [value_key, val_json]))
    return part.map(({ value_key, digest, original_index }) => ({
      digest,
      val_json: texts.get(value_key) as string,
      original_index,
    }))
  }

  /** Returns the keys and sizes of the contents that exist, by digest. */
  function* findRowKeys(
    project_id: string,
    digests: readonly string[],
  ): Steps<ReadonlyMap<string, RowKey>> {
    const found = new Map<string, RowKey>()
    for (const part of groupsOf(digests, ROWS_READ)) {
      const rows = yield* all<RowKey>(SQL.FIND_ROW_KEYS, { project_id, digests: part })
      for (const row of rows) found.set(row.digest, row)
    }
    return found
  }

  return { keysAt, placeRows, readPlaced, findRowKeys }
}

/** The reads of tables. */
export function createTableReads(dialect: Dialect, format: BlockFormat) {
  const rowReads = createRowReads(dialect, format)
  const { keysAt, placeRows, readPlaced, findRowKeys } = rowReads

  /** Passes the keys of all rows, in order, with the index of the first one. */
  function* forKeys(
    table: StoredTable,
    use: (keys: readonly number[], from: number) => void,
  ): Steps<void> {
    for (const indexes of groupsOf(indexesOf(table), KEYS_READ)) {
      use(yield* keysAt(table, indexes), indexes[0] as number)
    }
  }

  return {
    ...rowReads,
    *listRowDigests(table: StoredTable): Steps<string[]> {
      const digests: string[] = []
      for (const indexes of groupsOf(indexesOf(table), ROWS_READ)) {
        for (const { digest } of yield* placeRows(table, indexes)) digests.push(digest)
      }
      return digests
    },
    /** Returns the keys of all rows, ascending: eight bytes per row. */
    *sortKeys(table: StoredTable): Steps<Float64Array> {
      const keys = new Float64Array(table.row_count)
      yield* forKeys(table, (part, from) => keys.set(part, from))
      return keys.sort()
    },
    *findIndexes(table: StoredTable, rowDigests: readonly string[]): Steps<number[]> {
      const found = yield* findRowKeys(table.project_id, rowDigests)
      const wanted = new Set([...found.values()].map(({ value_key }) => value_key))
      const indexes: number[] = []
      if (wanted.size === 0) return indexes
      yield* forKeys(table, (keys, from) => {
        for (const [at, key] of keys.entries()) if (wanted.has(key)) indexes.push(from + at)
      })
      return indexes
    },
    /** @param checkpoint - throws when nobody waits any more */
    *sortIndexes(
      table: StoredTable,
      sort: TableSort,
      checkpoint: () => unknown,
    ): Steps<Uint32Array> {
      const order = createTableOrder(sort, checkpoint)
      for (const indexes of groupsOf(indexesOf(table), ROWS_READ)) {
        for (const part of partsBySize(yield* placeRows(table, indexes))) {
          for (const { val_json } of yield* readPlaced(part)) {
            checkpoint()
            order.add(JSON.parse(val_json))
          }
        }
      }
      return order.places()
    },
  }
}

interface TableParts {
  readonly format: BlockFormat
  readonly reads: ReturnType<typeof createTableReads>
  readonly runs: StepRuns<TableWrites>
  readonly sortIndexes: TableStore['sortIndexes']
}

export function createTables({ format, reads, runs, sortIndexes }: TableParts): TableStore {
  const { read, write } = runs
  return {
    sortIndexes,
    async insertRows(project_id, rows) {
      for (const group of groupsOf(rows, ROWS_READ)) {
        const sized = group.map((row) => ({ ...row, bytes: row.val_json.length }))
        for (const part of partsBySize(sized))
          await write('insert_rows', { project_id, rows: part })
      }
    },
    async createTable(project_id, digest, rowDigests) {
      const found = await read(reads.findRowKeys(project_id, rowDigests))
      const keys: number[] = []
      let storage_size_bytes = 0
      for (const [at, rowDigest] of rowDigests.entries()) {
        const row = found.get(rowDigest)
        if (row === undefined) {
          const param = `row_digests[${at}]`
          throw new ApiError('validation_failed', { message: `${param} is not stored`, param })
        }
        keys.push(row.value_key)
        storage_size_bytes += row.bytes
      }
      const table = { project_id, digest, row_count: keys.length, storage_size_bytes }
      const blocks = [...groupsOf(keys, BLOCK_ROWS)].map(format.toBlock)
      await write('create_table', { ...table, blocks })
    },
    async findTable(project_id, digest) {
      return (await read(first<StoredTable>(FIND_TABLE, { project_id, digest }))) ?? null
    },
    listRowDigests: (table) => read(reads.listRowDigests(table)),
    findIndexes: (table, rowDigests) => read(reads.findIndexes(table, rowDigests)),
    async indexRows(table) {
      const { project_id } = table
      const keys = await read(reads.sortKeys(table))
      return {
        async findRow(digest) {
          const value_key = (await read(reads.findRowKeys(project_id, [digest]))).get(
            digest,
          )?.value_key
          if (value_key === undefined || !includesKey(keys, value_key)) return null
          return (await read(first<NewRow>(FIND_ROW, { value_key }))) ?? null
        },
      }
    },
    async *readRows(table, indexes) {
      for (const group of groupsOf(indexes, ROWS_READ)) {
        for (const part of partsBySize(await read(reads.placeRows(table, group)))) {
          yield await read(reads.readPlaced(part))
          await nextTurn()
        }
      }
    },
  }
}

function blockOf(index: number): number {
  return Math.floor(index / BLOCK_ROWS)
}

function* indexesOf({ row_count }: StoredTable): Generator<number, void> {
  for (let index = 0; index < row_count; index++) yield index
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

/** Whether an ascending list contains a key. */
function includesKey(keys: Float64Array, key: number): boolean {
  let from = 0
  let until = keys.length
  while (from < until) {
    const middle = (from + until) >>> 1
    if ((keys[middle] as number) < key) from = middle + 1
    else until = middle
  }
  return keys[from] === key
}
