/** Translates the conditions of a search into the query of the lists of calls. Pure. */
import { type CallsQueryBody, TAG } from '../../api/wire.ts'
import { contains, escapedInJson, field, isThere, literal } from './conditions.ts'
import { exactModelCondition, modelCondition } from './model-condition.ts'
import { durationOf, numberOf } from './search-keys.ts'
import type { Condition } from './search-text.ts'

type Filter = NonNullable<CallsQueryBody['filter']>

/** Keys that the server looks up in an index, and the field that the query language compares. */
const FILTERS: Readonly<Record<string, { readonly list: keyof Filter; readonly field: string }>> = {
  'end-user': { list: 'end_user_ids', field: 'end_user_id' },
  thread: { list: 'thread_ids', field: 'thread_id' },
  trace: { list: 'trace_ids', field: 'trace_id' },
  id: { list: 'call_ids', field: 'id' },
  ref: { list: 'input_refs', field: 'inputs' },
}

const FEEDBACK: Readonly<Record<string, object>> = {
  some: isThere('feedback.[*].id'),
  none: { $eq: [field('feedback.[*].id'), literal(null)] },
  good: contains('feedback.[*].payload.emoji', '👍'),
  bad: contains('feedback.[*].payload.emoji', '👎'),
  note: isThere('feedback.[*].payload.note'),
}

const WHOLE_FIELDS: Readonly<Record<string, string>> = {
  user: 'svc_username',
  tag: `feedback.[${TAG}].payload.tag`,
}

const AMOUNTS: Readonly<Record<string, string>> = {
  cost: 'total_cost',
  'tree-cost': 'tree_total_cost',
  'tree-tokens': 'tree_total_tokens',
}

const COMPARED = { '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte' } as const

interface SearchQuery {
  readonly filter: Filter
  /** All of them must hold. */
  readonly conditions: readonly object[]
}

export function queryOfSearch(search: readonly Condition[]): SearchQuery {
  const filter: Record<string, readonly string[]> = {}
  const conditions: object[] = []
  for (const condition of search) {
    const { key, values, isNot } = condition
    const indexed = FILTERS[key]
    // Patterns of refs are versions, which the server knows.
    const isExact = key === 'ref' || !values.some(isPattern)
    const isIndexed = indexed && !isNot && isExact && !(indexed.list in filter)
    if (isIndexed) filter[indexed.list] = values
    else conditions.push(expressionOf(condition))
  }
  return { filter, conditions }
}

const isPattern = (text: string) => text.includes('*')

function expressionOf({ key, operator, values, isNot }: Condition): object {
  const any = values.map((value) => singleOf(key, operator, value))
  const [first = {}] = any
  const expression = any.length === 1 ? first : { $or: any }
  if (!isNot) return expression
  const none = { $not: [expression] }
  // A comparison with what a call has none of is not false, but unknown.
  return key === 'tag'
    ? { $or: [none, { $eq: [field(`feedback.[${TAG}].id`), literal(null)] }] }
    : none
}

function singleOf(key: string, operator: Condition['operator'], value: string): object {
  switch (key) {
    case 'status':
      return { $eq: [field('summary.weave.status'), literal(value)] }
    case 'op':
      return operator === '='
        ? { $or: [equalOp(value), { $eq: [field('display_name'), literal(value)] }] }
        : allParts(value, (part) => ({
            $or: [contains('op_name', part), contains('display_name', part)],
          }))
    case 'model':
      return operator === '=' ? exactModelCondition(value) : modelOf(value)
    case 'latency':
      return compared('summary.weave.latency_ms', operator, durationOf(value))
    case 'cost':
    case 'tree-cost':
    case 'tree-tokens':
      return compared(`summary.weave.${AMOUNTS[key]}`, operator, numberOf(value))
    case 'feedback':
      return FEEDBACK[value] ?? {}
    case 'text':
      return { $or: [...inBody('inputs', value), ...inBody('output', value)] }
    case 'input':
      return { $or: inBody('inputs', value) }
    case 'output':
      return { $or: inBody('output', value) }
    case 'error':
      return contains('exception', value)
    default:
      return key.includes('.') ? inPath(key, operator, value) : whole(key, value)
  }
}

/** An op is named as it is, or by a ref of one of its versions. */
function equalOp(name: string): object {
  const part = `/op/${encodeURIComponent(name)}:`
  return { $or: [{ $eq: [field('op_name'), literal(name)] }, contains('op_name', part)] }
}

/** A text verbatim and as escaped inside JSON. */
function inBody(body: string, text: string): object[] {
  return [...new Set([text, escapedInJson(text)])].map((part) => contains(body, part))
}

function whole(key: string, value: string): object {
  const name = FILTERS[key]?.field ?? WHOLE_FIELDS[key] ?? key
  return isPattern(value)
    ? allParts(value, (part) => contains(name, part))
    : { $eq: [field(name), literal(value)] }
}

function inPath(path: string, operator: Condition['operator'], value: string): object {
  if (operator === ':') return allParts(value, (part) => contains(path, part))
  if (operator !== '=') return compared(path, operator, numberOf(value))
  const number = numberOf(value)
  const equal = (wanted: unknown) => ({ $eq: [field(path), literal(wanted)] })
  return number === null ? equal(value) : { $or: [equal(value), equal(number)] }
}

function compared(name: string, operator: Condition['operator'], value: number | null): object {
  const compare = COMPARED[operator as keyof typeof COMPARED] ?? '$eq'
  return { [compare]: [field(name), literal(value)] }
}

/** `*` stands for any text: the parts between are found in any order. */
function allParts(value: string, one: (part: string) => object): object {
  const parts = value.split('*').filter((part) => part !== '')
  const [first] = parts
  if (first === undefined) return one('')
  return parts.length === 1 ? one(first) : { $and: parts.map(one) }
}

/** Names of models are keys in the report of usage, in quotation marks, where a pattern begins or ends. */
function modelOf(value: string): object {
  if (!isPattern(value)) return modelCondition(value)
  const parts = value.split('*')
  const found = parts.flatMap((part, at) => {
    if (part === '') return []
    const text = escapedInJson(part)
    const inKey = `${at === 0 ? '"' : ''}${text}${at === parts.length - 1 ? '"' : ''}`
    return [{ $or: [contains('summary.usage', inKey), contains('inputs.model', part)] }]
  })
  const [first = isThere('summary.usage')] = found
  return found.length > 1 ? { $and: found } : first
}
