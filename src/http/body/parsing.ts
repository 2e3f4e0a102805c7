/**
 * Parsing by schemas: strictly, or for clients of the vendor's API, where names that a strict schema does not know are
 * dropped.
 */
import type { z } from 'zod'
import { type Problem, toProblems, toValidationError, valueAt } from '../../schemas/problems.ts'
import { toVendorText } from './vendor-names.ts'

/** Limit: rounds of dropping; unknown names nested deeper are refused. */
const ROUNDS_MAX = 8

type Issue = z.core.$ZodIssue

/** A body, form, query or path that violates its schema; error-handler.ts chooses the status. */
export class SchemaError extends Error {
  readonly problems: readonly Problem[]

  /**
   * @param data - what was parsed
   * @param renderPath - renders a problem's path with the client's names
   */
  constructor({ issues }: z.ZodError, data: unknown, renderPath = (path: string) => path) {
    super('The request breaks a schema.')
    this.name = 'SchemaError'
    this.problems = toProblems(issues, data).map(
      (problem): Problem => ({ ...problem, path: renderPath(problem.path) }),
    )
  }
}

type ParseResult<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: SchemaError; readonly value?: undefined }

/** Parses strictly by the schema. */
export function parseStrictly<T>(schema: z.ZodType<T>, data: unknown): ParseResult<T> {
  const result = schema.safeParse(data)
  if (result.success) return { value: result.data }
  return { error: new SchemaError(result.error, data) }
}

/**
 * Parses, and deletes unknown names from `data`, which is modified.
 *
 * @param renderPath - renders a problem's path with the client's names
 */
export function parseTolerantly<T>(
  schema: z.ZodType<T>,
  data: unknown,
  renderPath?: (path: string) => string,
): ParseResult<T> {
  for (let round = 1; ; round++) {
    const result = schema.safeParse(data)
    if (result.success) return { value: result.data }
    if (round <= ROUNDS_MAX && dropUnknown(data, result.error.issues) > 0) continue
    return { error: new SchemaError(result.error, data, renderPath) }
  }
}

/**
 * Parses one item of a batch, already in neutral names, and may modify it.
 *
 * @throws ApiError validation_failed
 */
export function parseItem<T>(schema: z.ZodType<T>, item: unknown, isStrict: boolean): T {
  const { value, error } = isStrict
    ? parseStrictly(schema, item)
    : parseTolerantly(schema, item, toVendorText)
  if (error) throw toValidationError(error.problems)
  return value
}

/** Deletes the keys that the issues report as unknown; returns their number. */
function dropUnknown(data: unknown, issues: readonly Issue[]): number {
  let dropped = 0
  for (const issue of issues) {
    const owner = valueAt(data, issue.path)
    if (issue.code === 'unrecognized_keys' && typeof owner === 'object' && owner !== null) {
      // A JSON.rawJSON object, which holds a number as text, is frozen.
      for (const key of issue.keys) if (Reflect.deleteProperty(owner, key)) dropped += 1
    } else if (issue.code === 'invalid_union') {
      dropped += dropInUnion(owner, issue.errors)
    }
  }
  return dropped
}

/** Returns the issues of the first option of a union that fails only by unknown names: the client meant that one. */
function dropInUnion(data: unknown, options: readonly (readonly Issue[])[]): number {
  const meant = options.find(
    (issues) => issues.length > 0 && issues.every(({ code }) => code === 'unrecognized_keys'),
  )
  return meant ? dropUnknown(data, meant) : 0
}
