/** INSERT of several rows at once; parameters by their place, a row after the other. */
export function insertRows(table: string, columns: readonly string[], rowCount: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  return `
INSERT INTO ${table} (
  ${columns.join(',\n  ')}
)
VALUES ${Array(rowCount).fill(row).join(', ')}
`
}
