/** The dialect of PostgreSQL. */
import type { Dialect } from '../../base/db/dialect.ts'
import { run } from '../../base/db/steps.ts'
import { insertRows, toRows } from './rows.sql.ts'

export const POSTGRES: Dialect = {
  among: (parameter, type = 'text') => `= ANY (@${parameter}::${type}[])`,
  each: (parameter) => `unnest(@${parameter}::text[]) AS ${parameter} (value)`,
  sortedList: (column) => `coalesce(to_json(array_agg(${column} ORDER BY ${column}))::text, '[]')`,
  indexedBy: () => '',
  greatest: 'greatest',
  least: 'least',
  forUpdate: 'FOR UPDATE',
  insertMany(table, columns, onConflict = '') {
    const sql = insertRows(table, columns) + onConflict
    return (rows) => run(sql, { rows: toRows(rows) })
  },
}
