/**
 * Validates an object by those of its schema's fields that it has. Zod visits every field that a schema
 * names, and a request sends few of many. It never refuses: what it does not take, the schema decides.
 */
import { z } from 'zod'

/** The value that the schema gives for the data, or null when the schema has to be asked. */
export type SparseCheck = (data: unknown) => Record<string, unknown> | null

/**
 * Prepares the check of a schema; null where it could differ from the schema: for all but objects that
 * keep unknown keys, have no rules over several fields, and fill in nothing that is absent.
 */
export function createSparseCheck(schema: z.ZodType): SparseCheck | null {
  if (!(schema instanceof z.ZodObject) || (schema.def.checks?.length ?? 0) > 0) return null
  if (!(schema.def.catchall instanceof z.ZodUnknown)) return null
  const fields = new Map<string, z.ZodType>(Object.entries(schema.shape))
  const required: string[] = []
  for (const [name, field] of fields) {
    const absent = field.safeParse(undefined)
    if (!absent.success) required.push(name)
    else if (absent.data !== undefined) return null
  }
  return (data) => {
    if (typeof data !== 'object' || data === null || Array.isArray(data)) return null
    if (!required.every((name) => Object.hasOwn(data, name))) return null
    const value: Record<string, unknown> = {}
    for (const [name, given] of Object.entries(data)) {
      // Set like any other name, it would change what the object is.
      if (name === '__proto__') return null
      const result = fields.get(name)?.safeParse(given)
      if (result?.success === false) return null
      value[name] = result === undefined ? given : result.data
    }
    return value
  }
}
