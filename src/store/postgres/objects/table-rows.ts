/** The rows of a table: blocks of keys of contents, read in groups whose contents are bounded by bytes. */
import type { StoredTable, TableRow } from '../../api/objects/tables.ts'
import { partsBySize } from '../../base/db/sizes.ts'
import { BLOCK_ROWS } from '../../base/objects/tables.sql.ts'
import type { Statements } from '../db/client.ts'
import * as SQL from './tables.sql.ts'

/** Limit: blocks of one statement, eight bytes a row. */
const BLOCKS_READ = 64

type Db = Pick<Statements, 'all'>

interface KeyedPlace {
  readonly place: number
  readonly value_key: number
}

/** Returns the key at an index of a block. */
export function keyIn(value_keys: unknown, place: number): number {
  return Number((value_keys as readonly string[])[place])
}

/** The keys of all rows, in order. */
export async function readKeys(
  db: Db,
  table: StoredTable,
  checkpoint: () => void,
): Promise<Float64Array> {
  const keys = new Float64Array(table.row_count)
  const blockCount = Math.ceil(table.row_count / BLOCK_ROWS)
  for (let from = 0; from < blockCount; from += BLOCKS_READ) {
    checkpoint()
    const length = Math.min(BLOCKS_READ, blockCount - from)
    const blocks = await readBlocks(
      db,
      table,
      Array.from({ length }, (_, at) => from + at),
    )
    for (const [block, value_keys] of blocks) keys.set(value_keys, block * BLOCK_ROWS)
  }
  return keys
}

async function readBlocks(
  db: Db,
  { table_key }: StoredTable,
  blocks: readonly number[],
): Promise<Map<number, readonly number[]>> {
  type Block = { block: number; value_keys: string[] }
  const rows = await db.all<Block>(SQL.FIND_TABLE_BLOCKS, { table_key, blocks })
  return new Map(rows.map(({ block, value_keys }) => [block, value_keys.map(Number)]))
}

/** Digests of contents by their keys, with their bytes. */
export async function readDigests(db: Db, keys: readonly number[]) {
  type Row = { value_key: number; digest: string; bytes: number }
  const rows = await db.all<Row>(SQL.FIND_ROW_DIGESTS, { keys })
  return new Map(rows.map((row) => [row.value_key, row]))
}

/** Yields the rows at some indices, in the given order, in groups of bounded size. */
export async function* readRowsAt(
  db: Db,
  table: StoredTable,
  places: readonly number[],
): AsyncGenerator<TableRow[], void> {
  const wanted = [...new Set(places.map((place) => Math.floor(place / BLOCK_ROWS)))]
  const keyed: KeyedPlace[] = []
  const blocks = new Map<number, readonly number[]>()
  for (let from = 0; from < wanted.length; from += BLOCKS_READ) {
    const part = await readBlocks(db, table, wanted.slice(from, from + BLOCKS_READ))
    for (const [block, value_keys] of part) blocks.set(block, value_keys)
  }
  for (const place of places) {
    const value_key = blocks.get(Math.floor(place / BLOCK_ROWS))?.[place % BLOCK_ROWS]
    if (value_key !== undefined) keyed.push({ place, value_key })
  }
  yield* readKeyed(db, keyed)
}

async function* readKeyed(db: Db, keyed: readonly KeyedPlace[]): AsyncGenerator<TableRow[], void> {
  const digests = await readDigests(
    db,
    keyed.map(({ value_key }) => value_key),
  )
  const sized = keyed.flatMap(({ place, value_key }) => {
    const found = digests.get(value_key)
    return found === undefined ? [] : [{ place, ...found }]
  })
  for (const part of partsBySize(sized)) {
    type Row = { value_key: number; val_json: string }
    const keys = part.map(({ value_key }) => value_key)
    const rows = await db.all<Row>(SQL.FIND_ROWS, { keys })
    const texts = new Map(rows.map(({ value_key, val_json }) => [value_key, val_json]))
    yield part.map(({ place, value_key, digest }) => ({
      digest,
      val_json: texts.get(value_key) as string,
      original_index: place,
    }))
  }
}
