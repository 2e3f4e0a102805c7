/** Tables in SQLite, which stores the keys of a block as doubles. */
import type { StoredTable, TableSort, TableStore } from '../../api/objects/tables.ts'
import { createTableReads, createTables, type TableWrites } from '../../base/objects/tables.ts'
import type { Connection } from '../db/connection.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { runPausing } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { createStepRuns } from '../write/step-runs.ts'
import type { Writes } from '../write/writes.ts'

const KEY_BYTES = 8
const READS = createTableReads(SQLITE, { toBlock, keyIn })

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

/** @param db - for reads on this thread */
export function createTableStore(db: Connection, writes: Writes, reads: ReadPool): TableStore {
  return createTables({
    format: { toBlock, keyIn },
    reads: READS,
    runs: createStepRuns<TableWrites>(db, writes),
    sortIndexes: (table, sort, caller) => reads.run('table_order', { table, sort }, caller),
  })
}

interface TableOrderInput {
  readonly table: StoredTable
  readonly sort: TableSort
}

/** The read job that sorts the rows of a table by fields inside them. Returns their indexes, never contents. */
export const sortTable: ReadJob<TableOrderInput, Uint32Array> = (db, { table, sort }, checkpoint) =>
  runPausing(db, READS.sortIndexes(table, sort, checkpoint), checkpoint)
