/** Tables in SQLite. */
import type { TableStore } from '../../api/objects/tables.ts'
import { createTables, type TableWrites } from '../../base/objects/tables.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { createStepRuns } from '../write/step-runs.ts'
import type { Writes } from '../write/writes.ts'
import { FORMAT, READS } from './table-reads.ts'

/** @param db - for reads on this thread */
export function createTableStore(db: Connection, writes: Writes, reads: ReadPool): TableStore {
  return createTables({
    format: FORMAT,
    reads: READS,
    runs: createStepRuns<TableWrites>(db, writes),
    sortIndexes: (table, sort, caller) => reads.run('table_order', { table, sort }, caller),
  })
}
