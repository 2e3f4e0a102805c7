/** Reads of tables in SQLite, which stores the keys of a block as doubles, and the read job that sorts their rows. */
import type { StoredTable, TableSort } from '../../api/objects/tables.ts'
import { createTableReads } from '../../base/objects/tables.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { runPausing } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'

const KEY_BYTES = 8

export const FORMAT = { toBlock, keyIn }
export const READS = createTableReads(SQLITE, FORMAT)

/** Encodes the keys of a block. */
function toBlock(keys: readonly number[]): Buffer {
  const block = Buffer.allocUnsafe(keys.length * KEY_BYTES)
  keys.forEach((key, at) => void block.writeDoubleLE(key, at * KEY_BYTES))
  return block
}

/** Decodes the keys of a block. */
export function fromBlock(block: Buffer): number[] {
  return Array.from({ length: block.length / KEY_BYTES }, (_, index) => keyIn(block, index))
}

/** Returns the key at an index of a block. */
export function keyIn(block: unknown, index: number): number {
  return (block as Buffer).readDoubleLE(index * KEY_BYTES)
}

interface TableOrderInput {
  readonly table: StoredTable
  readonly sort: TableSort
}

/** Sorts the rows of a table by fields inside them. Returns their indexes, never contents. */
export const sortTable: ReadJob<TableOrderInput, Uint32Array> = (db, { table, sort }, checkpoint) =>
  runPausing(db, READS.sortIndexes(table, sort, checkpoint), checkpoint)
