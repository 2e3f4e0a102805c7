/** INSERT statements of single rows, built from lists of columns. */

/** Returns the INSERT of a row, with positional parameters. */
export function insertRow(table: string, columns: readonly string[]): string {
  return insert(table, columns, () => '?')
}

/** Returns the INSERT of a row, with parameters named like the columns. */
export function insertNamed(table: string, columns: readonly string[]): string {
  return insert(table, columns, (column) => `@${column}`)
}

function insert(
  table: string,
  columns: readonly string[],
  parameterOf: (column: string) => string,
): string {
  return `
INSERT INTO ${table} (
  ${columns.join(',\n  ')}
)
VALUES (${columns.map(parameterOf).join(', ')})
`
}

export function cursorCondition(order: 'asc' | 'desc', further = ''): string {
  return `(created_at_us, id) ${order === 'asc' ? '>' : '<'} (@after_us, @after_id)${further}
ORDER BY created_at_us ${order}, id ${order}
LIMIT @limit`
}
