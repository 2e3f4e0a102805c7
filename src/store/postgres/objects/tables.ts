/** Tables in PostgreSQL, which stores the keys of a block as an array. */
import type { TableStore } from '../../api/objects/tables.ts'
import {
  createTableReads,
  createTables,
  createTableWrites,
  type TableWrites,
} from '../../base/objects/tables.ts'
import type { Postgres } from '../db/client.ts'
import { POSTGRES } from '../db/dialect.sql.ts'
import type { Reads } from '../db/reads.ts'
import { createStepRuns, runSteps } from '../db/run-steps.ts'

const FORMAT = { toBlock: (keys: readonly number[]) => keys, keyIn }
const READS = createTableReads(POSTGRES, FORMAT)
const WRITES: TableWrites = createTableWrites(POSTGRES)

/** Returns the key at an index of a block. */
export function keyIn(value_keys: unknown, index: number): number {
  return Number((value_keys as readonly string[])[index])
}

export function createTableStore(db: Postgres, reads: Reads): TableStore {
  return createTables({
    format: FORMAT,
    reads: READS,
    runs: {
      ...createStepRuns(db, WRITES),
      write: (name, input) => db.transaction((tx) => createStepRuns(tx, WRITES).write(name, input)),
    },
    sortIndexes: (table, sort, caller) =>
      reads.run(caller, (checkpoint) =>
        runSteps(db, READS.sortIndexes(table, sort, checkpoint), checkpoint),
      ),
  })
}
