/** INSERT of many rows by one statement. */

/** INSERT of the rows of `@rows`, in their order, as toRows gives them. */
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

/** Rows as one parameter. Half of a character, which no text of PostgreSQL can hold, becomes a mark. */
export function toRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )
}
