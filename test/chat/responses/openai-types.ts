/**
 * The types of the openai package as checks: its declarations are read as text, since types are gone when tests run.
 * Only what the events and items of a response need of the language is understood.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const FILE = createRequire(import.meta.url).resolve('openai/resources/responses/responses')
const SOURCE = readFileSync(FILE.replace(/\.m?js$/, '.d.ts'), 'utf8')
  .replaceAll(/\/\*\*.*?\*\//gs, '')
  .replaceAll(/\n\s*\n+/g, '\n')

interface Member {
  readonly name: string
  readonly isOptional: boolean
  readonly type: string
}

/** The members of an interface of the package. */
function readInterface(name: string): Member[] {
  const found = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(SOURCE)
  if (!found) throw new Error(`the openai package has no interface ${name}`)
  return [...(found[1] as string).matchAll(/^ {4}(\w+)(\??): (.+?);$/gms)].map(
    ([, member = '', optional, type = '']) => ({
      name: member,
      isOptional: optional === '?',
      type,
    }),
  )
}

/** Names of events to the interfaces that they have. */
const EVENT_INTERFACES = new Map(
  [...SOURCE.matchAll(/^export interface (Response\w*Event) \{\n(.*?)^\}/gms)].map(
    ([, name = '', body = '']) => [/ {4}type: '([^']+)';/.exec(body)?.[1] ?? '', name],
  ),
)

const ITEM_INTERFACES: Readonly<Record<string, string>> = {
  message: 'ResponseOutputMessage',
  reasoning: 'ResponseReasoningItem',
  function_call: 'ResponseFunctionToolCallItem',
}
const PART_INTERFACES: Readonly<Record<string, string>> = {
  output_text: 'ResponseOutputText',
  refusal: 'ResponseOutputRefusal',
}

type Json = Readonly<Record<string, unknown>>

/** Faults of an event against the package's own types; none when it keeps them. */
export function findFaults(event: Json): string[] {
  const name = EVENT_INTERFACES.get(String(event.type))
  if (name === undefined) return [`no event ${event.type}`]
  const { name: calledName, ...others } = event
  // Python's package of version 2 and Java's require the name here, which this package no longer has.
  if (name !== 'ResponseFunctionCallArgumentsDoneEvent') return faultsOf(name, event)
  const faults = faultsOf(name, others)
  return typeof calledName === 'string' ? faults : [...faults, `${name}.name is missing`]
}

/** The same for the response object. */
export function findResponseFaults(response: Json): string[] {
  return faultsOf('Response', { output_text: '', access_programs: null, ...response })
}

function faultsOf(name: string, value: Json): string[] {
  const members = readInterface(
    name === 'ResponseFunctionToolCallItem' ? 'ResponseFunctionToolCall' : name,
  )
  const known = new Map(members.map((member) => [member.name, member]))
  const unknown = Object.keys(value).filter((key) => !known.has(key))
  // Responses have more fields than the package knows, as those of the vendor do.
  const isOpen = name === 'Response'
  return [
    ...(isOpen ? [] : unknown.map((key) => `${name}.${key} is unknown`)),
    ...members
      .filter(({ name: key, isOptional }) => !isOptional && value[key] === undefined)
      .map(({ name: key }) => `${name}.${key} is missing`),
    ...members.flatMap((member) =>
      value[member.name] === undefined ? [] : memberFaults(name, member, value[member.name]),
    ),
  ]
}

function memberFaults(owner: string, { name, type }: Member, value: unknown): string[] {
  const place = `${owner}.${name}`
  if (type === 'string' && typeof value !== 'string') return [`${place} is no string`]
  if (type === 'number' && typeof value !== 'number') return [`${place} is no number`]
  const literals = [...type.matchAll(/'([^']*)'/g)].map(([, literal]) => literal)
  const isLiteral = /^(?:'[^']*'(?: \| )?)+$/.test(type)
  if (isLiteral && !literals.includes(value as string)) return [`${place} is not ${type}`]
  if (type === 'Response') return findResponseFaults(value as Json)
  if (type === 'ResponseOutputItem') return itemFaults(value as Json)
  if (type === 'Array<ResponseOutputItem>') return (value as Json[]).flatMap(itemFaults)
  if (name === 'part') return partFaults(value as Json)
  if (name === 'content' && Array.isArray(value)) return value.flatMap(partFaults)
  if (type === 'ResponseUsage')
    return value === null ? [] : faultsOf('ResponseUsage', value as Json)
  if (type === 'ResponseError | null') {
    return value === null ? [] : faultsOf('ResponseError', value as Json)
  }
  return []
}

function itemFaults(item: Json): string[] {
  const name = ITEM_INTERFACES[String(item.type)]
  return name === undefined ? [`no item ${item.type}`] : faultsOf(name, item)
}

function partFaults(part: Json): string[] {
  if (part.type === 'reasoning_text') return typeof part.text === 'string' ? [] : ['no text']
  const name = PART_INTERFACES[String(part.type)]
  return name === undefined ? [`no part ${part.type}`] : faultsOf(name, part)
}
