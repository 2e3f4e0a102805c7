/** What only PostgreSQL writes so. */
import type { Dialect } from '../../base/db/dialect.ts'

export const POSTGRES: Dialect = {
  among: (parameter, type = 'text') => `= ANY (@${parameter}::${type}[])`,
  each: (parameter) => `unnest(@${parameter}::text[]) AS ${parameter} (value)`,
  sortedList: (column) => `coalesce(to_json(array_agg(${column} ORDER BY ${column}))::text, '[]')`,
  indexedBy: () => '',
  greatest: 'greatest',
  least: 'least',
}
