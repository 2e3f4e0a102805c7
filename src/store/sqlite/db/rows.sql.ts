/** INSERT of a row; parameters by their place. */
export function insertRow(table: string, columns: readonly string[]): string {
  return `
INSERT INTO ${table} (
  ${columns.join(',\n  ')}
)
VALUES (${columns.map(() => '?').join(', ')})
`
}
