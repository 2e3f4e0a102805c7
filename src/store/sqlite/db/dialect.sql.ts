/** The dialect of SQLite. */
import type { Dialect } from '../../base/db/dialect.ts'
import { insertNamed } from '../../base/db/rows.sql.ts'
import { run } from '../../base/db/steps.ts'

/** Lists are JSON (run-steps.ts). */
export const SQLITE: Dialect = {
  among: (parameter) => `IN (SELECT value FROM json_each(@${parameter}))`,
  each: (parameter) => `json_each(@${parameter}) AS ${parameter}`,
  sortedList: (column) => `json_group_array(${column} ORDER BY ${column})`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  greatest: 'max',
  least: 'min',
  // Transactions never meet.
  forUpdate: '',
  insertMany(table, columns, onConflict = '') {
    const sql = insertNamed(table, columns) + onConflict
    return function* (rows) {
      let count = 0
      for (const row of rows) count += yield* run(sql, row)
      return count
    }
  },
}
