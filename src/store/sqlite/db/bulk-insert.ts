/**
 * Inserts rows many at a time: to bind and run a statement for each row costs more than the row itself. Rows that are
 * left over go one by one.
 */
import type { Connection } from './connection.ts'
import { type Column, insertRows } from './rows.sql.ts'

/** Rows of one statement; more of them save no more. */
const ROWS = 16

export type Parameter = string | number | bigint | Buffer | null

export interface BulkInsert {
  /** @param parameters - of all rows one after another, each in the order of the columns */
  run(parameters: readonly Parameter[]): void
}

/** Inserts into the columns of a table; a row that breaks a constraint fails its statement. */
export function createBulkInsert(
  db: Connection,
  table: string,
  columns: readonly Column[],
): BulkInsert {
  const insertMany = db.prepare(insertRows(table, columns, ROWS))
  const insertOne = db.prepare(insertRows(table, columns, 1))
  const manyCount = ROWS * columns.length
  return {
    run(parameters) {
      let at = 0
      for (; at + manyCount <= parameters.length; at += manyCount) {
        insertMany.run(parameters.slice(at, at + manyCount))
      }
      for (; at < parameters.length; at += columns.length) {
        insertOne.run(parameters.slice(at, at + columns.length))
      }
    },
  }
}
