/** What SQLite and PostgreSQL write differently in statements that are otherwise the same. */
export interface Dialect {
  /** Whether the value before it is in the list of a parameter. */
  among(parameter: string, type?: 'text' | 'bigint'): string
  /** The list of a parameter as rows with one column, `value`; named like the parameter. */
  each(parameter: string): string
  /** Aggregates a column to the JSON text of its sorted values; of no rows `[]`. */
  sortedList(column: string): string
  /** Makes the planner read a table by an index, where it can be told to. */
  indexedBy(index: string): string
  /** The functions that return the greatest and the least of their arguments, none of which may be null. */
  readonly greatest: string
  readonly least: string
}
