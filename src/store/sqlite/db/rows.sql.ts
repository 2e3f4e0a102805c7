/** INSERT of several rows at once; parameters by their place, a row after the other. */

/** A column that takes its parameter as it is, or by an expression. */
export type Column = string | { readonly name: string; readonly value: string }

/** A column of text whose parameter is UTF-8. */
export function textOfBytes(name: string): Column {
  return { name, value: 'CAST(? AS TEXT)' }
}

export function insertRows(table: string, columns: readonly Column[], rowCount: number): string {
  const names = columns.map((column) => (typeof column === 'string' ? column : column.name))
  const values = columns.map((column) => (typeof column === 'string' ? '?' : column.value))
  return `
INSERT INTO ${table} (
  ${names.join(',\n  ')}
)
VALUES ${Array(rowCount)
    .fill(`(${values.join(', ')})`)
    .join(', ')}
`
}
