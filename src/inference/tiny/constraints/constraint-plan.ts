/**
 * Reads the constraint on the answer of a chat request. It must refuse what the grammar engine would silently ignore,
 * so that every finished answer satisfies its constraint.
 */
import { resolveResponseFormatType } from '../../../domain/chat/response-format-type.ts'
import { isGiven } from '../../../domain/json/json-values.ts'
import { refuse } from '../../../errors.ts'
import type { ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import type { StructuredOutputs } from '../../../schemas/chat/structured-outputs.ts'
import { closeObjects, type MarkedSchema, rewriteSchema } from './json-schema-rewrite.ts'
import { findUnsupportedKeyword } from './json-schema-support.ts'
import { findPatternFault } from './patterns/json-text-pattern.ts'
import { listTagContents, toPresentTag } from './structural-tag.ts'

/**
 * White space between the tokens of JSON: a little of any, none, one space behind commas and colons, or what a
 * pattern matches.
 */
export type JsonSpace = 'any' | 'none' | 'line' | { readonly pattern: string }

/** A schema as the grammar engine gets it. */
export interface JsonForm extends Pick<MarkedSchema, 'marks'> {
  readonly kind: 'json'
  /** JSON text. */
  readonly schema: string
  readonly space: JsonSpace
}

/** The form that an answer must have, ready for the grammar engine. */
export type ConstraintForm =
  | JsonForm
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'grammar'; readonly source: string }
  | { readonly kind: 'tag'; readonly source: string }
  | CallForm

/** Calls of tools, and the form of an answer without them. */
interface CallForm {
  readonly kind: 'calls'
  /** At least one, each with the form of its arguments. */
  readonly tools: readonly { readonly name: string; readonly form: JsonForm }[]
  /** Whether the answer is calls and nothing else. */
  readonly isRequired: boolean
  readonly isParallel: boolean
  /** Null for any text. */
  readonly otherwise: ConstraintForm | null
}

/** A form and the field that requested it. */
export interface Constraint {
  readonly form: ConstraintForm
  readonly param: string
}

/** Limit: characters of a constraint; compiling more takes seconds. */
const CONSTRAINT_CHARS_MAX = 65_536
/** Limit: characters of a schema as it was sent, of which long lists of values are compiled apart. */
const SCHEMA_CHARS_MAX = 1_048_576
/** What a whitespace_pattern may hold: anything else could match more than the white space of JSON. */
const SPACE_PATTERN = /^(?:[ \t\n\r]|\\[tnrs]|[[\]()|?*+]|\{\d{1,3}(?:,\d{0,3})?\})*$/

/**
 * The constraint of a request, or null for free text.
 *
 * @throws ApiError invalid_value naming the field
 *
 * Spec: §4.3 response_format, structured_outputs.
 * Choice: a JSON Schema keyword that cannot be enforced is refused; format, which is an annotation, only with
 * strict. disable_fallback has no effect, as there is one engine. Only objects without named properties
 * get others, where additionalProperties says so, and not even those with
 * disable_additional_properties.
 */
export function planConstraint(request: ChatCompletionRequest): Constraint | null {
  const constraint = planFormat(request) ?? planOutputs(request.structured_outputs ?? null)
  return constraint === null ? null : requireConstraintSize(constraint)
}

/** The constraint, when it is not too long. @throws ApiError invalid_value naming its field */
export function requireConstraintSize(constraint: Constraint): Constraint {
  const { form, param } = constraint
  requireChars(sizeOf(form), CONSTRAINT_CHARS_MAX, param)
  return constraint
}

function requireChars(count: number, max: number, param: string): void {
  if (count <= max) return
  refuse('invalid_value', param, `${param} may have ${max} characters at the most.`)
}

/** Characters of a form. */
function sizeOf(form: ConstraintForm): number {
  if (form.kind === 'json') return form.schema.length
  if (form.kind === 'regex') return form.pattern.length
  if (form.kind === 'texts') return form.texts.reduce((sum, { length }) => sum + length, 0)
  if (form.kind !== 'calls') return form.source.length
  const own = form.otherwise === null ? 0 : sizeOf(form.otherwise)
  return form.tools.reduce((sum, tool) => sum + tool.name.length + sizeOf(tool.form), own)
}

function planFormat({ response_format: format }: ChatCompletionRequest): Constraint | null {
  if (format === undefined || format === null) return null
  const type = resolveResponseFormatType(format)
  const param = 'response_format'
  if (type === 'json_object') return { param, form: jsonForm({ type: 'object' }, 'any') }
  if (type === 'structural_tag') return { param, form: tagForm(format, param) }
  if (type !== 'json_schema') return null
  const path = `${param}.json_schema.schema`
  const schema = format.json_schema?.schema ?? {}
  return {
    param: path,
    form: jsonForm(requireSupported(schema, path, format.json_schema?.strict === true), 'any'),
  }
}

function planOutputs(outputs: StructuredOutputs | null): Constraint | null {
  if (outputs === null) return null
  const { json, regex, choice, grammar, structural_tag: tag } = outputs
  const named = (name: string, form: ConstraintForm): Constraint => ({
    param: `structured_outputs.${name}`,
    form,
  })
  if (isGiven(regex)) {
    requireKept(regex, 'structured_outputs.regex')
    return named('regex', { kind: 'regex', pattern: regex })
  }
  if (isGiven(choice)) return named('choice', { kind: 'texts', texts: choice })
  if (isGiven(grammar)) return named('grammar', { kind: 'grammar', source: grammar })
  if (isGiven(tag)) {
    const param = 'structured_outputs.structural_tag'
    return { param, form: tagForm(JSON.parse(tag), param) }
  }
  const space = resolveSpace(outputs)
  if (!isGiven(json)) return named('json_object', jsonForm({ type: 'object' }, space))
  const parsed: unknown = typeof json === 'string' ? JSON.parse(json) : json
  const schema = requireSupported(parsed, 'structured_outputs.json')
  const isClosed = outputs.disable_additional_properties === true
  return named('json', jsonForm(isClosed ? closeObjects(schema) : schema, space))
}

function tagForm(format: unknown, param: string): ConstraintForm {
  const tag = toPresentTag(format)
  for (const content of listTagContents(tag)) {
    if (content.kind === 'schema') requireSupported(content.schema, param)
    if (content.kind === 'regex') requireKept(content.pattern, param)
  }
  return { kind: 'tag', source: JSON.stringify(tag) }
}

/** The form of JSON that satisfies a schema; all of the schema can be enforced. */
export function jsonForm(schema: unknown, space: JsonSpace): JsonForm {
  const { schema: marked, marks } = rewriteSchema(schema)
  return { kind: 'json', schema: JSON.stringify(marked), marks, space }
}

/**
 * Spec: §4.3 disable_any_whitespace, whitespace_pattern.
 * Choice: the first wins over the second; an empty pattern matches no white space.
 */
function resolveSpace(outputs: StructuredOutputs): JsonSpace {
  const pattern = outputs.whitespace_pattern
  if (outputs.disable_any_whitespace === true || pattern === '') return 'none'
  if (!isGiven(pattern)) return 'any'
  if (SPACE_PATTERN.test(pattern)) return { pattern: pattern.replaceAll('\\s', '[ \\t\\n\\r]') }
  const param = 'structured_outputs.whitespace_pattern'
  refuse('invalid_value', param, `${param} must match nothing but spaces, tabs and line ends.`)
}

/** @throws ApiError invalid_value naming the field, for a schema with too many characters */
export function requireSchemaSize(schema: unknown, param: string): void {
  requireChars(JSON.stringify(schema).length, SCHEMA_CHARS_MAX, param)
}

/** The schema, when all of it can be enforced. @throws ApiError invalid_value naming the field */
function requireSupported(schema: unknown, param: string, isStrict = false): unknown {
  requireSchemaSize(schema, param)
  refuseFault(findUnsupportedKeyword(schema, isStrict), param)
  return schema
}

function requireKept(pattern: string, param: string): void {
  requireChars(pattern.length, CONSTRAINT_CHARS_MAX, param)
  refuseFault(findPatternFault(pattern), param)
}

function refuseFault(fault: string | null, param: string): void {
  if (fault !== null)
    refuse('invalid_value', param, `${param} uses ${fault}, which cannot be enforced.`)
}
