/** Statements that are the same but for a few words. */
import type { Steps } from './steps.ts'

/** Parts of statements that differ between SQLite and PostgreSQL. */
export interface Dialect {
  /** Whether the value before it is in the list of a parameter. */
  among(parameter: string, type?: 'text' | 'bigint'): string
  /** The list of a parameter as rows with one column, `value`; named like the parameter. */
  each(parameter: string): string
  /** Aggregates a column to the JSON text of its sorted values; of no rows `[]`. */
  sortedList(column: string): string
  /** Makes the planner read a table by an index, if the database has a hint for that. */
  indexedBy(index: string): string
  /** The functions that return the greatest and the least of their arguments, none of which may be null. */
  readonly greatest: string
  readonly least: string
  /** Ends a SELECT whose rows no other transaction may change before this one ends. */
  readonly forUpdate: string
  /**
   * Returns a function that inserts rows.
   *
   * @param columns - of the table and of each row
   * @param onConflict - the clause for rows that are there; without it they are an error
   * @returns how many rows were inserted
   */
  insertMany(
    table: string,
    columns: readonly string[],
    onConflict?: string,
  ): (rows: readonly object[]) => Steps<number>
}
