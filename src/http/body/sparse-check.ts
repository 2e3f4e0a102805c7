/**
 * Validates only those fields of a schema that an object has. Zod visits every field of a schema, and a request has
 * few of many. The check can only accept: an object that it does not accept is validated by the whole schema, which
 * also builds the error.
 */
import { z } from 'zod'

/** Limits: values that are cached per field, first come, and characters of one. */
const KNOWN_VALUES_MAX = 32
const KNOWN_CHARS_MAX = 64

interface Field {
  readonly schema: z.ZodType
  /** Primitive values that it accepts unchanged: clients send the same ones again and again. */
  readonly known: Set<unknown>
}

/** Returns the output of the schema for the data, or null when the whole schema must validate it. */
type SparseCheck = (data: unknown) => Record<string, unknown> | null

/**
 * Prepares the check of a schema. Returns null if it could differ from the schema: for all but objects that keep
 * unknown keys, have no rules over several fields, and have no defaults.
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
      // Assigning this name would set the prototype.
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
