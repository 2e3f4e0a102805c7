/** The dialect of PostgreSQL, which inserts many rows with one statement. */
import type { Dialect } from '../../base/db/dialect.ts'
import { run } from '../../base/db/steps.ts'

/** INSERT of the rows of `@rows`, in order, in the format of toRows. */
export function insertRows(table: string, columns: readonly string[]): string {
  const list = columns.join(',\n  ')
  return `
INSERT INTO ${table} (
  ${list}
)
SELECT
  ${list}
FROM json_populate_recordset(NULL::${table}, @rows::json)
`
}

/** Rows as one parameter. */
export function toRows(rows: readonly object[]): string {
  return JSON.stringify(rows.map(wellFormed))
}

/** Returns the stored form of a row: lone surrogates, which PostgreSQL cannot store, become U+FFFD. */
export function wellFormed<Row extends object>(row: Row): Row {
  const isBroken = (value: unknown) => typeof value === 'string' && !value.isWellFormed()
  if (!Object.values(row).some(isBroken)) return row
  const mended = Object.entries(row).map(([name, value]) => [
    name,
    isBroken(value) ? value.toWellFormed() : value,
  ])
  return Object.fromEntries(mended) as Row
}

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
