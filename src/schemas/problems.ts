/** The problems of a value that breaks a schema, as clients see them, each with its path. */
import { z } from 'zod'
import { ApiError } from '../errors.ts'

/** One broken rule. `path` is dotted, as `messages[0].content`. */
export interface Problem {
  readonly path: string
  readonly message: string
  readonly isMissing: boolean
}

/**
 * Returns the error of a body that breaks a schema, with all problems. `param` is the path of the first one, or null
 * for the whole body.
 */
export function toValidationError(problems: readonly Problem[]): ApiError {
  const message = problems
    .map((problem) => `${problem.path || 'The body'} ${problem.message}`)
    .join('; ')
  return new ApiError('validation_failed', { message, param: problems[0]?.path || null })
}

/** Limit: problems reported in one response. */
const PROBLEMS_MAX = 10

type Issue = z.core.$ZodIssue

/** Limit: characters of a key that a path repeats. Paths are sent and logged, and clients choose keys. */
const KEY_CHARS_MAX = 100

/** Renders an issue's path: `messages[0].content`, keys that are no names are quoted. */
export function renderPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    const key = String(part).slice(0, KEY_CHARS_MAX)
    if (typeof part === 'number') text += `[${key}]`
    else if (/^[\w-]+$/.test(key)) text += text === '' ? key : `.${key}`
    else text += `[${JSON.stringify(key)}]`
  }
  return text
}

/** Returns the problems of a failed parse, at most PROBLEMS_MAX, without any value of the input. */
export function toProblems(issues: readonly Issue[], input: unknown): Problem[] {
  const problems: Problem[] = []
  for (const issue of issues) {
    for (const problem of problemsOf(issue, input)) {
      if (problems.length === PROBLEMS_MAX) return problems
      problems.push(problem)
    }
  }
  return problems
}

/** Limit: fields of an object that are named to a client that sent another one. */
const FIELDS_NAMED_MAX = 40

/** Message for a value that matches no option of a union, nor resembles one. */
const NO_FORM = 'must have one of the forms that /docs shows'

// The finished issue no longer has the schema, which knows the existing fields.
z.config({
  customError: (issue) => {
    if (issue.code === 'unrecognized_keys')
      return `is not a field of this object${listFields(issue.inst)}${hintAtVendor(issue.keys)}`
    if (issue.code === 'invalid_type') return sayType(issue.expected, issue.input)
    if (issue.code === 'invalid_value') return sayValues(issue.values)
    if (issue.code === 'invalid_union') {
      // The values of a field by which the option is chosen.
      return Array.isArray(issue.options) ? sayValues(issue.options) : NO_FORM
    }
    if (issue.code === 'too_small') return sayBound('at least', issue.minimum, issue)
    if (issue.code === 'too_big') return sayBound('at most', issue.maximum, issue)
    return undefined
  },
})

/** Names of types in a sentence, by their names in Zod. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function sayType(expected: string, input: unknown): string | undefined {
  const type = TYPES[expected]
  if (type === undefined) return undefined
  if (expected === 'int' && typeof input === 'number') return `must be ${type}`
  // Infinity, as which `1e400` is read, or a number that is held as text.
  if (expected === 'number' && nameOf(input) === type)
    return 'must be a number that a double keeps as it is written'
  return `must be ${type}, not ${nameOf(input)}`
}

function nameOf(input: unknown): string {
  if (input === null) return 'null'
  if (typeof input === 'boolean') return String(input)
  if (JSON.isRawJSON(input)) return 'a number'
  return TYPES[Array.isArray(input) ? 'array' : typeof input] ?? 'that'
}

function sayValues(values: readonly unknown[]): string {
  const names = values.map((value) => (value === '' ? '""' : String(value)))
  return names.length === 1 ? `must be ${names[0]}` : `must be one of ${names.join(', ')}`
}

/** Singular and plural of what Zod counts; for a number the value itself is bounded. */
const UNITS: Readonly<Record<string, readonly [string, string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
}

function sayBound(
  bound: string,
  limit: number | bigint,
  { origin, inclusive }: { origin: string; inclusive?: boolean | undefined },
): string | undefined {
  if (inclusive === false) return undefined
  if (origin === 'number' || origin === 'int') return `must be ${bound} ${limit}`
  const units = UNITS[origin]
  return units && `must have ${bound} ${limit} ${units[Number(limit) === 1 ? 0 : 1]}`
}

/**
 * Returns a hint for vendor names: a tracing SDK configured with the address of the server sends them to the wrong
 * routes.
 */
function hintAtVendor(keys: readonly string[]): string {
  return keys.some((key) => key.startsWith('wb_')) ? '; tracing SDKs send to /traces' : ''
}

function listFields(schema: unknown): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  if (names.length === 0) return ''
  const more = names.length > FIELDS_NAMED_MAX ? ', ...' : ''
  return `, which has ${names.slice(0, FIELDS_NAMED_MAX).join(', ')}${more}`
}

function problemsOf(issue: Issue, input: unknown): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, PROBLEMS_MAX)
    return keys.map((key, at) => ({
      path: renderPath([...issue.path, key]),
      // The existing fields are listed once.
      message: at === keys.length - 1 ? issue.message : 'is not a field',
      isMissing: false,
    }))
  }
  const meant = issue.message === NO_FORM ? issuesOfMeant(issue) : undefined
  if (meant !== undefined) {
    return meant.flatMap((inner) =>
      problemsOf({ ...inner, path: [...issue.path, ...inner.path] }, input),
    )
  }
  const isMissing = valueAt(input, issue.path) === undefined
  const message = isMissing
    ? 'is required'
    : lowerFirst(issue.message.replace('Invalid input: ', ''))
  return [{ path: renderPath(issue.path), message, isMissing }]
}

/** Returns the issues of the option of a union that a value resembles: the value has its type and its fields. */
function issuesOfMeant(issue: Issue): readonly Issue[] | undefined {
  const options = issue.code === 'invalid_union' ? issue.errors : []
  const isOther = ({ code, path }: Issue) =>
    path.length < 2 && ['invalid_type', 'invalid_value', 'unrecognized_keys'].includes(code)
  const isOtherType = ({ code, path }: Issue) => path.length === 0 && code === 'invalid_type'
  return (
    options.find((issues) => !issues.some(isOther)) ??
    options.find((issues) => issues.some(isOtherType))
  )
}

/** Returns the value at a path; undefined if there is none. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
