/**
 * Building blocks of request schemas: numbers, texts, lists and maps that all have bounds.
 * Their messages follow the field's path, as in "temperature must be ...". They must never repeat text that a client
 * sent: only numbers and booleans are echoed.
 */
import { z } from 'zod'

/** Limit: faults that one list or map reports; a response names ten at most. */
const FAULTS_MAX = 10

/** Characters of a map's key that a path may repeat; longer keys are left out of it. */
const PATH_KEY_CHARS_MAX = 64

interface NumberBounds {
  readonly min?: number
  readonly max?: number
  /** Exclusive lower bound. */
  readonly above?: number
}

interface TextBounds {
  readonly min?: number
  readonly max: number
}

interface ListBounds {
  readonly min?: number
  readonly max: number
  /** A cheap check that accepts most valid entries; the schema decides about the others. */
  readonly passes?: (entry: unknown) => boolean
}

/**
 * A field that may be left out; null is the same as left out.
 *
 * @param description - for readers and for the OpenAPI document
 * @param fallback - the documented default, for the document only: it is never filled in
 *
 * Spec: §4.3 (only `messages` is required).
 * Choice: null at the top level of a field means absent, because SDKs send null for what is not set.
 */
export function optionalField<T extends z.ZodType>(
  schema: T,
  description: string,
  fallback?: unknown,
): z.ZodOptional<z.ZodNullable<T>> {
  const meta = fallback === undefined ? { description } : { description, default: fallback }
  return schema.nullish().meta(meta)
}

/**
 * Returns the rule as the end of a sentence that begins with a path, with the received value if it cannot contain
 * prompt text.
 */
export function ruleError(rule: string): { error: (issue: { input?: unknown }) => string } {
  return {
    error: ({ input }) => {
      if (input === undefined) return `is required and must be ${rule}`
      const isHarmless = typeof input === 'number' || typeof input === 'boolean'
      return isHarmless ? `must be ${rule}, not ${input}` : `must be ${rule}`
    },
  }
}

/** True or false. Choice: "true" and 1 are refused, types are strict. Spec: §4.3. */
export function flag(): z.ZodBoolean {
  return z.boolean(ruleError('true or false'))
}

/** An optional switch. @param what - what it is for, as a sentence @param fallback - the documented default */
export function optionalFlag(what: string, fallback: boolean) {
  return optionalField(flag(), `${what} Default ${fallback}.`, fallback)
}

/** A finite number within bounds. Choice: text is never read as a number. Spec: §4.3. */
export function boundedNumber(rule: string, bounds: NumberBounds = {}): z.ZodNumber {
  const params = ruleError(rule)
  let schema = z.number(params)
  if (bounds.min !== undefined) schema = schema.min(bounds.min, params)
  if (bounds.max !== undefined) schema = schema.max(bounds.max, params)
  if (bounds.above !== undefined) schema = schema.gt(bounds.above, params)
  return schema
}

/** A whole number within bounds, which are inclusive. Beyond 2^53 it is the nearest double. */
export function boundedInteger(rule: string, bounds: NumberBounds = {}): z.ZodNumber {
  // Why: Zod's own int() stops at 2^53, and some fields of the spec go up to 2^63.
  return boundedNumber(rule, bounds)
    .refine(Number.isInteger, ruleError(rule))
    .meta({ type: 'integer' })
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): z.ZodNumber {
  return boundedInteger(`a whole number from ${min} to ${max}`, { min, max })
}

/** A text of `min` (0 when absent) to `max` Unicode characters. */
export function boundedText({ min = 0, max }: TextBounds): z.ZodString {
  const params = ruleError(`a string of ${min} to ${max} characters`)
  return z.string(params).min(min, params).max(max, params)
}

/**
 * A list of `min` to `max` entries that each match a schema without transforms or defaults. It stops at FAULTS_MAX
 * faults, and reports each under its own path even inside a union: Zod's own array reports every bad entry, which
 * turns a small hostile body into a large response.
 */
export function boundedList<T extends z.ZodType>(
  element: T,
  { min = 0, max, passes }: ListBounds,
): z.ZodType<z.infer<T>[], z.infer<T>[]> {
  const rule = `a list of ${min} to ${max} entries`
  const schema = z
    .array(z.unknown(), ruleError(rule))
    .check((context) => {
      const entries = context.value
      // Why: Zod's own length check aborts, and a union around the list would hide its message.
      const isWithin = entries.length >= min && entries.length <= max
      if (!isWithin) addIssue(context, { code: 'custom', message: `must be ${rule}` })
      else if (!passes || !entries.every(passes)) reportFaults(entries.entries(), element, context)
    })
    .meta({ minItems: min, maxItems: max, items: describeJson(element) })
  // Why: the elements were checked one by one, and Zod cannot see that.
  return schema as unknown as z.ZodType<z.infer<T>[], z.infer<T>[]>
}

/** An object of at most `max` keys whose values match a schema; stops at FAULTS_MAX faults. */
export function boundedMap<T extends z.ZodType>(
  value: T,
  { max }: { readonly max: number },
): z.ZodType<Record<string, z.infer<T>>, Record<string, z.infer<T>>> {
  const schema = boundedObject(max)
    .check((context) => {
      const entries = Object.entries(context.value)
      if (entries.length <= max) reportFaults(entries, value, context)
    })
    .meta({ additionalProperties: describeJson(value) })
  return schema as unknown as z.ZodType<Record<string, z.infer<T>>, Record<string, z.infer<T>>>
}

/** An object with any values, of at most `max` keys. */
export function boundedObject(max: number): z.ZodObject<Record<never, never>, z.core.$loose> {
  const params = ruleError(`an object of at most ${max} keys`)
  return z
    .looseObject({}, params)
    .refine((value) => Object.keys(value).length <= max, params)
    .meta({ maxProperties: max })
}

/** The JSON Schema of what a schema accepts, to be nested in the metadata of another. */
export function describeJson(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json
}

/** Payload of a Zod check. */
type Checked = z.core.ParsePayload<unknown>
type Issue = z.core.$ZodIssue | { readonly code: 'custom'; readonly message: string }

/**
 * Reports a fault from inside `check`.
 *
 * Not `superRefine`, which attaches a function to what is parsed: with it V8 promoted the bodies of finished requests
 * to its old heap, one after the other, where they stayed until a full collection. At 32 KB that was 3 of 10 MB of
 * new memory.
 */
export function addIssue(
  { issues, value }: Checked,
  issue: Issue & { path?: PropertyKey[] },
): void {
  issues.push({ input: value, continue: true, ...issue } as z.core.$ZodRawIssue)
}

/** Checks entries until FAULTS_MAX issues are reported, each under the entry's key or index. */
function reportFaults(
  entries: Iterable<[string | number, unknown]>,
  schema: z.ZodType,
  context: Checked,
): void {
  let faultCount = 0
  for (const [key, value] of entries) {
    const result = schema.safeParse(value)
    if (result.success) continue
    const isLongKey = typeof key === 'string' && key.length > PATH_KEY_CHARS_MAX
    for (const issue of result.error.issues) {
      addIssue(context, { ...issue, path: isLongKey ? issue.path : [key, ...issue.path] })
      faultCount += 1
      if (faultCount >= FAULTS_MAX) return
    }
  }
}
