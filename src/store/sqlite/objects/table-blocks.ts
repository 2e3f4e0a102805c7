/** The rows of a table as blocks of keys, which are read one at a time. Independent of their contents. */
import type { Statement } from 'better-sqlite3'
import type { StoredTable } from '../../api/objects/tables.ts'
import { BLOCK_ROWS, FIND_TABLE_BLOCK } from '../../base/objects/tables.sql.ts'
import type { Connection } from '../db/connection.ts'

const KEY_BYTES = 8

/** Encodes the keys of a block. */
export function toBlock(keys: readonly number[]): Buffer {
  const block = Buffer.allocUnsafe(keys.length * KEY_BYTES)
  keys.forEach((key, at) => void block.writeDoubleLE(key, at * KEY_BYTES))
  return block
}

/** Decodes the keys of a block. */
export function fromBlock(block: Buffer): number[] {
  const length = block.length / KEY_BYTES
  return Array.from({ length }, (_, at) => block.readDoubleLE(at * KEY_BYTES))
}

/** Returns the key at an index of a block. */
export function keyIn(block: unknown, place: number): number {
  return (block as Buffer).readDoubleLE(place * KEY_BYTES)
}

interface TableBlocks {
  /** Returns the key of the row at an index, which must be inside the table. */
  keyAt(place: number): number
}

/** Reads the blocks of one table; caches the last block, so that sequential access is cheap. */
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
      return keyIn(block, place % BLOCK_ROWS)
    },
  }
}
