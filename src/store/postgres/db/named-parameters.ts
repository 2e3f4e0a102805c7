/** Named parameters for PostgreSQL: `@id` instead of `$1`. */

/** Values by parameter name. */
export type Parameters = Readonly<Record<string, unknown>>

interface BoundStatement {
  readonly text: string
  readonly values: unknown[]
}

/** Limit: statements that are kept; the orders and conditions of lists make many thousands. Then all are read anew. */
const STATEMENTS_MAX = 1000
const numbered = new Map<string, { readonly text: string; readonly names: readonly string[] }>()

/** @throws Error for a name without a value, which is a bug */
export function bindNames(sql: string, parameters: Parameters): BoundStatement {
  let found = numbered.get(sql)
  if (found === undefined) {
    const names: string[] = []
    const text = sql.replace(/(?<![\w@])@([a-z_][a-z0-9_]*)/g, (_, name: string) => {
      if (!names.includes(name)) names.push(name)
      return `$${names.indexOf(name) + 1}`
    })
    found = { text, names }
    if (numbered.size === STATEMENTS_MAX) numbered.clear()
    numbered.set(sql, found)
  }
  const values = found.names.map((name) => {
    const value = parameters[name]
    if (value === undefined) throw new Error(`no value for @${name}`)
    return value
  })
  return { text: found.text, values }
}
