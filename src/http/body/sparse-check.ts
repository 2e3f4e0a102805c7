/**
 * Validates an object by those of its schema's fields that it has. Zod visits every field that a schema names, and a
 * request sends few of many. It can only say yes: an object that it is not sure of goes to the whole schema, which
 * alone refuses.
 */
import { z } from 'zod'

/** Limits: values that are remembered of a field, the first that came, and characters of one. */
const KNOWN_VALUES_MAX = 32
const KNOWN_CHARS_MAX = 64

interface Field {
  readonly schema: z.ZodType
  /** Plain values that it takes as they are: clients send the same ones again and again. */
  readonly known: Set<unknown>
}

/** The value that the schema gives for the data, or null when the schema has to be asked. */
type SparseCheck = (data: unknown) => Record<string, unknown> | null

/**
 * Prepares the check of a schema; null where it could differ from the schema: for all but objects that
 * keep unknown keys, have no rules over several fields, and fill in nothing that is absent.
 */
export function createSparseCheck(schema: z.ZodType): SparseCheck | null {
  if (!(schema instanceof z.ZodObject) || (schema.def.checks?.length ?? 0) > 0) return null
  if (!(schema.def.catchall instanceof z.ZodUnknown)) return null
  const fields = new Map<string, Field>()
  const required: string[] = []
  for (const [name, field] of Object.entries<z.ZodType>(schema.shape)) {
    fields.set(name, { schema: field, known: new Set() })
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
      const field = fields.get(name)
      value[name] = given
      if (field === undefined || field.known.has(given)) continue
      const result = field.schema.safeParse(given)
      if (!result.success) return null
      value[name] = result.data
      if (result.data === given && isShort(given)) remember(field, given)
    }
    return value
  }
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= KNOWN_CHARS_MAX
  return value === null || typeof value !== 'object'
}

function remember({ known }: Field, value: unknown): void {
  if (known.size < KNOWN_VALUES_MAX) known.add(value)
}
