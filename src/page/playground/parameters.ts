/** The parameters of a completion, as the server's own document describes them. Pure. */
import { parseExact } from '../api/exact-json.ts'

type ParameterKind = 'number' | 'integer' | 'boolean' | 'choice' | 'text' | 'json'

export interface Parameter {
  readonly name: string
  readonly kind: ParameterKind
  readonly description: string
  /** Options of a choice. */
  readonly choices: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

/** Parameters that the page sets itself. */
const OWN = ['messages', 'model', 'stream', 'stream_options', 'n']
/** The parameters used most, in this order, before all others. */
const FIRST = [
  'temperature',
  'max_completion_tokens',
  'top_p',
  'seed',
  'stop',
  'reasoning_effort',
  'logprobs',
  'top_logprobs',
  'response_format',
  'tools',
  'tool_choice',
]

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly description?: string
  readonly deprecated?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
}

/** The parts of an OpenAPI document that describe the parameters. */
export interface Described {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<
    Record<
      string,
      { post?: { requestBody?: { content?: { 'application/json'?: { schema?: Schema } } } } }
    >
  >
}

export interface Parameters {
  readonly first: readonly Parameter[]
  readonly others: readonly Parameter[]
}

export function parametersOf(document: Described): Parameters {
  const { schemas } = document.components
  const body = document.paths['/v1/chat/completions']?.post?.requestBody
  const schema = resolve(body?.content?.['application/json']?.schema ?? {}, schemas)
  const all = Object.entries(schema.properties ?? {})
    .filter(([name, { deprecated }]) => !OWN.includes(name) && !deprecated)
    .map(([name, property]) => parameterOf(name, property, schemas))
  const first = FIRST.flatMap((name) => all.find((one) => one.name === name) ?? [])
  return { first, others: all.filter((one) => !first.includes(one)) }
}

type Schemas = Readonly<Record<string, Schema>>

function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (schemas[name] ?? {})
}

function parameterOf(name: string, property: Schema, schemas: Schemas): Parameter {
  const outer = resolve(property, schemas)
  const options = [...(outer.anyOf ?? outer.oneOf ?? outer.allOf ?? [outer])]
    .map((option) => resolve(option, schemas))
    .filter(({ type }) => type !== 'null')
  const [only = {}] = options
  const { minimum = outer.minimum, maximum = outer.maximum } = only
  const choices = (only.enum ?? []).filter((value) => typeof value === 'string')
  return {
    name,
    kind: options.length === 1 ? kindOf(only, choices) : 'json',
    description: property.description ?? outer.description ?? '',
    choices,
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

function kindOf({ type }: Schema, choices: readonly string[]): ParameterKind {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null')
  const [only] = types
  if (types.length !== 1) return 'json'
  if (choices.length > 0) return 'choice'
  if (only === 'string') return 'text'
  return only === 'number' || only === 'integer' || only === 'boolean' ? only : 'json'
}

/** Texts of the form by the name of the parameter; empty ones are not sent. */
export type Texts = Readonly<Record<string, string>>

/** @throws Error that names the parameter whose text is no JSON */
export function valuesOf(texts: Texts, parameters: readonly Parameter[]): object {
  const values = parameters.flatMap(({ name, kind }) => {
    const text = texts[name] ?? ''
    return text === '' ? [] : [[name, parsedValue(name, kind, text)] as const]
  })
  return Object.fromEntries(values)
}

function parsedValue(name: string, kind: ParameterKind, text: string): unknown {
  if (kind === 'text' || kind === 'choice') return text
  if (kind === 'boolean') return text === 'true'
  if (kind !== 'json') return Number(text)
  try {
    return parseExact(text)
  } catch {
    // Fields for a text or a list, such as stop, are usually filled in without quotes.
    if (/^[[{"]/.test(text.trim())) throw new Error(`${name} is not valid JSON.`)
    return text
  }
}

/** A value as the text of its field. */
export function textOfValue(value: unknown, kind: ParameterKind): string {
  if (value === null || value === undefined) return ''
  return kind === 'text' || kind === 'choice'
    ? String(value)
    : JSON.stringify(value, null, kind === 'json' ? 2 : 0)
}
