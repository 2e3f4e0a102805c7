/** INSERT of a row; parameters by their place. */
export function insertRow(table: string, columns: readonly string[]): string {
  return insert(table, columns, () => '?')
}

/** INSERT of a row; parameters by the names of their columns. */
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
