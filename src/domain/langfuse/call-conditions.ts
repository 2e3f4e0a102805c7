/**
 * Conditions on observations and traces of Langfuse's API as expressions over calls. Pure.
 *
 * Spec: none, an addition. Choice: a condition that cannot be met by calls is refused, not ignored.
 */
import { ApiError } from '../../errors.ts'
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type { CallConditions, ColumnFilter } from '../../schemas/langfuse/observation.ts'
import type { Query } from '../../schemas/query/query-expression.ts'
import { parseTimestampUs, renderTimestamp } from '../../schemas/timestamp.ts'
import { DEFAULT_ENVIRONMENT, KIND_TYPES } from './observations.ts'

/** The resource of a list. */
type Listed = 'observation' | 'trace'

const TRACE_NAME = 'attributes.langfuse.trace.name'
const TAGS = 'attributes.langfuse.trace.tags'
const ENVIRONMENT = 'attributes.langfuse.environment'
const LEVEL = 'attributes.langfuse.observation.level'
const TYPE = 'attributes.langfuse.observation.type'
const KIND = 'attributes.kind'

const COMMON_FIELDS = {
  userId: 'end_user_id',
  sessionId: 'thread_id',
  version: 'attributes.langfuse.version',
  release: 'attributes.langfuse.release',
}

/** The fields of calls by the names of columns. */
export const FIELDS: Readonly<Record<Listed, Readonly<Record<string, string>>>> = {
  observation: {
    ...COMMON_FIELDS,
    id: 'id',
    traceId: 'trace_id',
    parentObservationId: 'parent_id',
    startTime: 'started_at',
    endTime: 'ended_at',
    statusMessage: 'exception',
    traceName: TRACE_NAME,
  },
  trace: { ...COMMON_FIELDS, id: 'trace_id', timestamp: 'started_at' },
}

/** Columns that no field holds as it is shown, with the condition for one value. */
const DERIVED: Readonly<Record<Listed, Readonly<Record<string, (value: string) => object>>>> = {
  observation: {
    name: isNamed,
    type: isOfType,
    level: isOfLevel,
    environment: isOfEnvironment,
    tags: hasTag,
    traceTags: hasTag,
  },
  trace: { name: isTraceNamed, environment: isOfEnvironment, tags: hasTag },
}

export interface CallsCondition {
  /** The part for which calls have indexes. */
  readonly filter: CallsFilter
  /** All other conditions; null: none. */
  readonly query: Query | null
}

/**
 * Returns the condition that selects the calls of a list. The calls of traces are their roots.
 *
 * @param untilUs - calls that began later are left out; null: none are
 * @throws ApiError unsupported_value for a column or an operator that calls cannot be found by
 */
export function callsCondition(
  asked: CallConditions,
  listed: Listed,
  untilUs: number | null = null,
): CallsCondition {
  const { userId, sessionId, traceId, parentObservationId, isRootObservation } = asked
  const { tags, environment, version, release, filter } = asked
  const terms: object[] = []
  for (const name of ['name', 'type', 'level'] as const) {
    const value = asked[name]
    const term = value === undefined ? undefined : DERIVED[listed][name]?.(value)
    if (term !== undefined) terms.push(term)
  }
  if (environment !== undefined) terms.push({ $or: environment.map(isOfEnvironment) })
  if (tags !== undefined) terms.push(...tags.map(hasTag))
  if (version !== undefined) terms.push(equal(COMMON_FIELDS.version, version))
  if (release !== undefined) terms.push(equal(COMMON_FIELDS.release, release))
  if (parentObservationId === '') terms.push(isNull('parent_id'))
  if (isRootObservation !== undefined) terms.push(isRoot(isRootObservation))
  terms.push(...timeTerms(asked, untilUs))
  terms.push(...(filter ?? []).map((column, at) => columnTerm(column, listed, `filter[${at}]`)))
  const one = (value: string | undefined) => (value ? [value] : undefined)
  return {
    filter: {
      trace_ids: one(traceId),
      thread_ids: one(sessionId),
      end_user_ids: one(userId),
      parent_ids: one(parentObservationId),
      ...(listed === 'trace' ? { trace_roots_only: true } : {}),
    },
    query: terms.length === 0 ? null : { $expr: { $and: terms } },
  }
}

function timeTerms(asked: CallConditions, untilUs: number | null): object[] {
  const from = asked.fromStartTime ?? asked.fromTimestamp
  const to = asked.toStartTime ?? asked.toTimestamp
  return [
    ...(from === undefined ? [] : [compare('$gte', 'started_at', from)]),
    ...(to === undefined ? [] : [compare('$lt', 'started_at', to)]),
    ...(untilUs === null ? [] : [compare('$lte', 'started_at', renderTimestamp(untilUs))]),
  ]
}

function compare(operator: '$eq' | '$gt' | '$gte' | '$lt' | '$lte', field: string, value: unknown) {
  return { [operator]: [{ $getField: field }, { $literal: value }] }
}

function isNull(field: string): object {
  return compare('$eq', field, null)
}

/** A term that is false where the field is missing, so that its opposite is true there. */
function ifPresent(field: string, term: object): object {
  return { $and: [not(isNull(field)), term] }
}

function equal(field: string, value: unknown): object {
  return ifPresent(field, compare('$eq', field, value))
}

function among(field: string, values: readonly string[]): object {
  const literals = values.map((value) => ({ $literal: value }))
  return ifPresent(field, { $in: [{ $getField: field }, literals] })
}

function contains(field: string, substr: string): object {
  const input = { $convert: { input: { $getField: field }, to: 'string' } }
  return ifPresent(field, { $contains: { input, substr: { $literal: substr } } })
}

function not(term: object): object {
  return { $not: [term] }
}

/** The name that observations show: the display name, or that of the operation. */
function isNamed(name: string): object {
  const ofOp = { $or: [equal('op_name', name), contains('op_name', `/op/${name}:`)] }
  const isPlain = { $and: [isNull('display_name'), ofOp] }
  return { $or: [equal('display_name', name), isPlain] }
}

function isTraceNamed(name: string): object {
  const isPlain = { $and: [isNull(TRACE_NAME), isNamed(name)] }
  return { $or: [equal(TRACE_NAME, name), isPlain] }
}

function isOfEnvironment(name: string): object {
  const isOf = equal(ENVIRONMENT, name)
  return name === DEFAULT_ENVIRONMENT ? { $or: [isOf, isNull(ENVIRONMENT)] } : isOf
}

function isOfLevel(level: string): object {
  const isOf = equal(LEVEL, level)
  const isFailed = not(isNull('exception'))
  const byException = { ERROR: isFailed, DEFAULT: not(isFailed) }[level]
  return byException === undefined ? isOf : { $or: [isOf, { $and: [isNull(LEVEL), byException] }] }
}

function isOfType(type: string): object {
  const kinds = Object.entries(KIND_TYPES)
  const own = kinds.filter(([, shown]) => shown === type).map(([kind]) => kind)
  const isOfKind =
    type === 'SPAN'
      ? not(among(KIND, Object.keys(KIND_TYPES)))
      : own.length === 0
        ? null
        : among(KIND, own)
  const isSet = equal(TYPE, type.toLowerCase())
  return isOfKind === null ? isSet : { $or: [isSet, { $and: [isNull(TYPE), isOfKind] }] }
}

function isRoot(isWanted: boolean): object {
  const isRootCall = {
    $or: [isNull('parent_id'), equal('attributes.langfuse.internal.is_app_root', true)],
  }
  return isWanted ? isRootCall : not(isRootCall)
}

/** Tags are a list, of which the JSON text is searched. */
function hasTag(tag: string): object {
  return contains(TAGS, JSON.stringify(tag))
}

/** A condition of the parameter `filter`. */
function columnTerm(condition: ColumnFilter, listed: Listed, at: string): object {
  const { column, key, operator, value } = condition
  if (column === 'metadata' && key !== undefined)
    return fieldTerm(condition, `attributes.langfuse.observation.metadata.${key}`, at)
  if (column === 'isRootObservation' && typeof value === 'boolean')
    return isRoot(value === (operator === '='))
  const field = FIELDS[listed][column]
  if (field !== undefined) return fieldTerm(condition, field, at)
  const derived = DERIVED[listed][column]
  if (derived === undefined) {
    const columns = [...Object.keys(FIELDS[listed]), ...Object.keys(DERIVED[listed]), 'metadata']
    throw refuse(`${at}.column`, `The column must be one of ${columns.join(', ')}.`)
  }
  const terms = textsOf(value, at).map(derived)
  const isAll = operator === 'all of'
  if (!isAll && operator !== '=' && operator !== 'any of' && operator !== 'none of')
    throw refuse(`${at}.operator`, `${column} has the operators =, any of, none of and all of.`)
  const found = isAll ? { $and: terms } : { $or: terms }
  return operator === 'none of' ? not(found) : found
}

const ORDERS = { '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte' } as const

function fieldTerm({ operator, value }: ColumnFilter, field: string, at: string): object {
  if (operator === 'is null') return isNull(field)
  if (operator === 'is not null') return not(isNull(field))
  const texts = textsOf(value, at)
  const [text = ''] = texts
  if (Object.hasOwn(ORDERS, operator)) {
    const isTime = field === 'started_at' || field === 'ended_at'
    if (!isTime || parseTimestampUs(text) === null)
      throw refuse(`${at}.value`, `${operator} takes a date-time, of a column of times.`)
    return compare(ORDERS[operator as keyof typeof ORDERS], field, text)
  }
  switch (operator) {
    case '=':
    case 'any of':
      return among(field, withJsonTexts(texts))
    case 'none of':
      return not(among(field, withJsonTexts(texts)))
    case 'contains':
      return contains(field, text)
    case 'does not contain':
      return not(contains(field, text))
  }
  const message =
    'The operator must be one of =, any of, none of, contains, does not contain, is null, is not null, and for times >, >=, <, <=.'
  throw refuse(`${at}.operator`, message)
}

/** The SDKs set values of metadata as JSON texts, and other clients as they are. */
function withJsonTexts(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [text, JSON.stringify(text)])
}

function textsOf(value: ColumnFilter['value'], at: string): string[] {
  const texts = [value].flat().filter((item) => typeof item === 'string')
  if (texts.length === 0) throw refuse(`${at}.value`, 'The value must be a text or texts.')
  return texts
}

function refuse(param: string, message: string): ApiError {
  return new ApiError('unsupported_value', { param, message })
}
