/** The rows of a table in blocks of keys, which are read one at a time. Knows nothing of contents. */
import type { Statement } from 'better-sqlite3'
import type { StoredTable } from '../../api/objects/tables.ts'
import type { Connection } from '../db/connection.ts'
import { FIND_TABLE_BLOCK } from './tables.sql.ts'

/** Rows of one block. */
export const BLOCK_ROWS = 1024
const KEY_BYTES = 8

/** The keys of a block as they are stored. */
export function toBlock(keys: readonly number[]): Buffer {
  const block = Buffer.allocUnsafe(keys.length * KEY_BYTES)
  keys.forEach((key, at) => void block.writeDoubleLE(key, at * KEY_BYTES))
  return block
}

/** The keys that a block holds. */
export function fromBlock(block: Buffer): number[] {
  const length = block.length / KEY_BYTES
  return Array.from({ length }, (_, at) => block.readDoubleLE(at * KEY_BYTES))
}

interface TableBlocks {
  /** The key of the row at a place; the place must be inside the table. */
  keyAt(place: number): number
}

/** Reads the blocks of one table; the last block is kept, so that places in order are cheap. */
export function openTableBlocks(db: Connection, table: StoredTable): TableBlocks {
  const { table_key } = table
  const findBlock: Statement = db.prepare(FIND_TABLE_BLOCK).pluck()
  let block: Buffer = Buffer.alloc(0)
  let blockNumber = -1
  return {
    keyAt(place) {
      const number = Math.floor(place / BLOCK_ROWS)
      if (number !== blockNumber) {
        block = findBlock.get({ table_key, block: number }) as Buffer
        blockNumber = number
      }
      return block.readDoubleLE((place % BLOCK_ROWS) * KEY_BYTES)
    },
  }
}
