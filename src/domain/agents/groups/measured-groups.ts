/** Measures over groups of spans, and ranges of them. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../../errors.ts'
import type {
  SpanGroupFilter,
  SpanGroupRef,
  SpanMeasure,
} from '../../../schemas/agents/span-values.ts'
import { renderTimestamp, timestampUs } from '../../../schemas/timestamp.ts'
import { type Expression, parseQuery } from '../../query/query-expression.ts'
import type { AgentSpan } from '../agent-span.ts'
import { columnOf } from '../span-columns.ts'
import { createScopeMatcher } from '../span-scope.ts'
import { SPAN_FIELDS, typeOfRef, type ValueType, valueOfRef } from '../span-values.ts'
import {
  type Budget,
  type Cell,
  createMeasure,
  type Measure,
  requireMeasure,
  typeOfAggregate,
} from './span-measures.ts'

/** Limit: groups of one response, before its page is cut out. */
const GROUPS_MAX = 100_000

export type GroupRef = SpanGroupRef & { readonly name: string; readonly type: ValueType }

/** The refs of a list with their names and types. @throws ApiError validation_failed for an unknown field */
export function resolveGroupRefs(
  group_by: readonly SpanGroupRef[] | null | undefined,
  param: string,
): GroupRef[] {
  return (group_by ?? []).map((ref, index) => {
    const type = typeOfRef(ref, `${param}[${index}].key`)
    return { ...ref, name: nameOfGroup(ref), type }
  })
}

/** The key of a group in the response: its alias, the column, or the attribute. */
function nameOfGroup({ alias, source, key }: SpanGroupRef): string {
  if (alias) return alias
  return (source === 'field' || source === 'column' ? columnOf(key) : null) ?? key
}

export interface GroupMeasure extends Pick<SpanMeasure, 'alias' | 'aggregation' | 'value'> {
  readonly expression: Expression | null
  readonly type: ValueType
}

/** A measure with its parsed filter and the type of its value. @throws ApiError validation_failed, query_invalid */
export function resolveMeasure(measure: SpanMeasure, param: string): GroupMeasure {
  const type = measure.value ? typeOfRef(measure.value, `${param}.value.key`) : null
  requireMeasure(measure, type, param)
  const { alias, aggregation, value, filter } = measure
  const rules = { fields: SPAN_FIELDS, param: `${param}.filter` }
  const expression = filter ? parseQuery(filter, rules) : null
  return { alias, aggregation, value, expression, type: typeOfAggregate(aggregation, type) }
}

/** Measures of one group. */
export interface GroupMeasures {
  add(span: AgentSpan): void
  values(): Cell[]
}

/** A function that starts the measures of a group. */
export function createGroupMeasures(
  measures: readonly GroupMeasure[],
  budget: Budget,
): () => GroupMeasures {
  const matchers = measures.map(createScopeMatcher)
  return () => {
    const own: Measure[] = measures.map(({ aggregation }) => createMeasure(aggregation, budget))
    return {
      add(span) {
        for (const [index, { value }] of measures.entries()) {
          if (matchers[index]?.(span)) own[index]?.add(value ? valueOfRef(span, value) : true)
        }
      },
      values: () => own.map((measure) => measure.value()),
    }
  }
}

/** A map of groups by the values of refs. @param open - starts a group */
export function createGroups<Group>(
  refs: readonly GroupRef[],
  budget: Budget,
  open: (values: readonly Cell[]) => Group,
) {
  const groups = new Map<string, Group>()
  return {
    /** @throws ApiError validation_failed for too many groups */
    find(span: AgentSpan): Group {
      const values = refs.map((ref) => valueOfRef(span, ref))
      const key = JSON.stringify(values)
      const known = groups.get(key)
      if (known !== undefined) return known
      if (groups.size === GROUPS_MAX) throw tooMany()
      budget.keep(key)
      const group = open(values)
      groups.set(key, group)
      return group
    },
    all: () => [...groups.values()],
  }
}

/** A range of a measure: inclusive, null where it has no end. */
export interface GroupFilter {
  readonly refs: readonly GroupRef[]
  readonly measure: GroupMeasure
  readonly min: number | string | null
  readonly max: number | string | null
}

/** The filters of a request. @throws ApiError validation_failed, query_invalid */
export function resolveGroupFilters(
  filters: readonly SpanGroupFilter[] | null | undefined,
): GroupFilter[] {
  return (filters ?? []).map((filter, index) => {
    const param = `group_filters[${index}]`
    const refs = resolveGroupRefs(filter.group_by, `${param}.group_by`)
    const measure = resolveMeasure(filter.measure, `${param}.measure`)
    const min = resolveBound(filter.min, measure.type, `${param}.min`)
    const max = resolveBound(filter.max, measure.type, `${param}.max`)
    if (min === null && max === null) {
      throw new ApiError('validation_failed', { param, message: `${param} must have min or max.` })
    }
    if (min !== null && max !== null && max < min) {
      const message = `${param}.max must not be less than min.`
      throw new ApiError('validation_failed', { param: `${param}.max`, message })
    }
    return { refs, measure, min, max }
  })
}

/** A bound; a time in the format of the measure's values. */
function resolveBound(
  bound: number | string | null | undefined,
  type: ValueType,
  param: string,
): number | string | null {
  if (bound === null || bound === undefined) return null
  if (typeof bound === (type === 'datetime' ? 'string' : 'number')) {
    return typeof bound === 'string' ? renderTimestamp(timestampUs(bound)) : bound
  }
  const message = `${param} must be a ${type === 'datetime' ? 'date-time' : 'number'}, as its measure is.`
  throw new ApiError('validation_failed', { param, message })
}

/** Whether a range includes the value of its measure; none includes null. Both ends belong to it. */
export function isInRange({ min, max }: GroupFilter, value: Cell): boolean {
  return value !== null && (min === null || value >= min) && (max === null || value <= max)
}

/** @throws ApiError validation_failed for two of one name */
export function requireDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  const message = `There are two groups, measures, metrics or distributions of the name ${twice}; give one an alias.`
  throw new ApiError('validation_failed', { param: 'alias', message })
}

/**
 * Requires the groups of a filter to be those of the request, whatever their names are.
 *
 * @throws ApiError validation_failed
 */
export function requireSameGroups(
  { refs }: GroupFilter,
  others: readonly GroupRef[],
  index: number,
): void {
  const values = (list: readonly GroupRef[]) =>
    list.map(({ source, key }) => (source === 'column' ? ['field', key] : [source, key]))
  if (refs.length === 0 || isDeepStrictEqual(values(refs), values(others))) return
  const param = `group_filters[${index}].group_by`
  const message = `${param} must be absent, or the group_by that forms the groups.`
  throw new ApiError('validation_failed', { param, message })
}

function tooMany(): ApiError {
  const message = `There are more than ${GROUPS_MAX} groups: group by less, or narrow the query.`
  return new ApiError('validation_failed', { param: 'group_by', message })
}
