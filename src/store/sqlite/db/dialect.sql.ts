/** What only SQLite writes so. */
import type { Dialect } from '../../base/db/dialect.ts'

/** Lists are JSON (run-steps.ts). */
export const SQLITE: Dialect = {
  among: (parameter) => `IN (SELECT value FROM json_each(@${parameter}))`,
  each: (parameter) => `json_each(@${parameter}) AS ${parameter}`,
  sortedList: (column) => `json_group_array(${column} ORDER BY ${column})`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  greatest: 'max',
  least: 'min',
}
