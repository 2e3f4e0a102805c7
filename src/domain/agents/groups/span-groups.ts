/** Groups spans, with the counts and measures of each group. Pure. */

import { ApiError } from '../../../errors.ts'
import type { AgentSpanGroup, AgentSpansQueryRequest } from '../../../schemas/agents/agent-spans.ts'
import type { SpanGroupRef, SpanMeasure } from '../../../schemas/agents/span-values.ts'
import { layerPrices, type ProjectPrice } from '../../prices/project-prices.ts'
import { type Expression, parseQuery } from '../../query/query-expression.ts'
import { orderForSort } from '../../query/query-values.ts'
import { type AgentSpan, textColumn } from '../agent-span.ts'
import { costsOf } from '../span-costs.ts'
import { answerOf, questionOf, readSpanMessages } from '../span-messages.ts'
import { createScopeMatcher } from '../span-scope.ts'
import { SPAN_FIELDS, typeOfRef, valueOfRef } from '../span-values.ts'
import { columnOf } from './span-columns.ts'
import {
  type Budget,
  type Cell,
  createBudget,
  createMeasure,
  type Measure,
  requireMeasure,
} from './span-measures.ts'
import { createSpanTotals, type SpanTotals } from './span-totals.ts'

/** Limit: groups of one answer, before its page is cut out. */
const GROUPS_MAX = 100_000
const PREVIEW_CHARS_MAX = 200

export interface SpanGrouping {
  readonly refs: readonly (SpanGroupRef & { readonly name: string })[]
  readonly measures: readonly (SpanMeasure & { readonly expression: Expression | null })[]
  readonly sort: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[]
  readonly offset: number
  readonly limit: number
  /** The project's own; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
  /** Whether the first question and the last answer are shown. */
  readonly withMessages: boolean
  /** Groups of agents: only spans that name this one, or any for null, and the tokens of the model calls they make. */
  readonly ofAgents?: { readonly agent_name: string | null }
}

type GroupRequest = Pick<
  AgentSpansQueryRequest,
  'group_by' | 'measures' | 'sort_by' | 'offset' | 'limit'
>

/** @throws ApiError validation_failed, query_invalid */
export function resolveGrouping(
  { group_by, measures, sort_by, offset, limit }: GroupRequest,
  prices: readonly ProjectPrice[] | null,
  limitDefault: number,
): SpanGrouping {
  const refs = (group_by ?? []).map((ref, index) => {
    typeOfRef(ref, `group_by[${index}].key`)
    return { ...ref, name: nameOfGroup(ref) }
  })
  const specs = (measures ?? []).map((measure, index) => {
    const param = `measures[${index}]`
    const type = measure.value ? typeOfRef(measure.value, `${param}.value.key`) : null
    requireMeasure(measure, type, param)
    const { filter } = measure
    const rules = { fields: SPAN_FIELDS, param: `${param}.filter` }
    return { ...measure, expression: filter ? parseQuery(filter, rules) : null }
  })
  requireDistinct([...refs.map(({ name }) => name), ...specs.map(({ alias }) => alias)])
  return {
    refs,
    measures: specs,
    sort: sort_by ?? [{ field: 'span_count', direction: 'desc' }],
    offset: offset ?? 0,
    limit: limit ?? limitDefault,
    prices,
    withMessages: refs.some(({ name }) => name === 'conversation_id'),
  }
}

/** The key of a group in the answer: its alias, the column, or the attribute. */
export function nameOfGroup({ alias, source, key }: SpanGroupRef): string {
  if (alias) return alias
  return (source === 'field' || source === 'column' ? columnOf(key) : null) ?? key
}

/** @throws ApiError validation_failed */
export function requireDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  const message = 'Groups, measures and metrics must have names of their own; give them an alias.'
  throw new ApiError('validation_failed', { param: 'alias', message })
}

interface Group {
  readonly keys: Readonly<Record<string, Cell>>
  readonly totals: SpanTotals
  readonly measures: readonly Measure[]
  readonly conversations: Set<string>
  first: string | null
  last: string | null
}

export interface GroupPage {
  readonly groups: readonly AgentSpanGroup[]
  readonly total_count: number
}

/** Takes spans in the order of their time. @throws ApiError validation_failed for too many groups or values */
export function createSpanGroups(grouping: SpanGrouping) {
  const prices = grouping.prices && layerPrices(grouping.prices)
  const matchers = grouping.measures.map(createScopeMatcher)
  const budget = createBudget()
  const groups = new Map<string, Group>()

  function groupOf(span: AgentSpan): Group {
    const values = grouping.refs.map((ref) => valueOfRef(span, ref))
    const key = JSON.stringify(values)
    const known = groups.get(key)
    if (known) return known
    if (groups.size === GROUPS_MAX) throw tooMany()
    const keys = Object.fromEntries(grouping.refs.map(({ name }, at) => [name, values[at] ?? null]))
    const group = openGroup(keys, grouping, budget)
    groups.set(key, group)
    return group
  }

  return {
    /** @returns the totals that the span counts to, for tokens that are not its own */
    add(span: AgentSpan, { withTokens = true } = {}): SpanTotals {
      const group = groupOf(span)
      group.totals.add(span)
      if (withTokens) group.totals.addTokens(span.usage, costsOf(span, prices))
      for (const [at, { value }] of grouping.measures.entries()) {
        if (matchers[at]?.(span)) group.measures[at]?.add(value ? valueOfRef(span, value) : true)
      }
      const conversation = textColumn(span, 'conversation_id')
      if (conversation !== null && !group.conversations.has(conversation)) {
        budget.take()
        group.conversations.add(conversation)
      }
      if (grouping.withMessages) keepMessages(group, span)
      return group.totals
    },
    answer(): GroupPage {
      const rows = [...groups.values()].map((group) => render(group, grouping))
      rows.sort((left, right) => compare(left, right, grouping.sort))
      const { offset, limit } = grouping
      return { groups: rows.slice(offset, offset + limit), total_count: rows.length }
    },
  }
}

function openGroup(
  keys: Readonly<Record<string, Cell>>,
  { measures }: SpanGrouping,
  budget: Budget,
): Group {
  return {
    keys,
    totals: createSpanTotals(),
    measures: measures.map(({ aggregation }) => createMeasure(aggregation, budget)),
    conversations: new Set(),
    first: null,
    last: null,
  }
}

function keepMessages(group: Group, span: AgentSpan): void {
  const messages = readSpanMessages(span)
  const cut = (text: string) => text.trim().slice(0, PREVIEW_CHARS_MAX).toWellFormed() || null
  group.first ??= cut(questionOf(messages))
  group.last = cut(answerOf(messages)) ?? group.last
}

function render(group: Group, { measures }: SpanGrouping): AgentSpanGroup {
  const { keys, totals, conversations, first, last } = group
  return {
    group_keys: keys,
    metrics: Object.fromEntries(
      measures.map(({ alias }, at) => [alias, group.measures[at]?.value() ?? null]),
    ),
    distributions: {},
    ...totals.render(),
    conversation_count: conversations.size,
    first_message: first === null ? null : { role: 'user_message', text: first },
    last_message: last === null ? null : { role: 'assistant_message', text: last },
  }
}

function compare(left: AgentSpanGroup, right: AgentSpanGroup, sort: SpanGrouping['sort']): number {
  for (const { field, direction } of sort) {
    const sign = orderForSort(cellOf(left, field), cellOf(right, field), direction)
    if (sign !== 0) return sign
  }
  return orderForSort(JSON.stringify(left.group_keys), JSON.stringify(right.group_keys), 'asc')
}

function cellOf(row: AgentSpanGroup, field: string): unknown {
  if (Object.hasOwn(row.group_keys, field)) return row.group_keys[field]
  if (Object.hasOwn(row.metrics, field)) return row.metrics[field]
  return Object.hasOwn(row, field) ? row[field as keyof AgentSpanGroup] : undefined
}

function tooMany(): ApiError {
  const message = `There are more than ${GROUPS_MAX} groups: group by less, or narrow the query.`
  return new ApiError('validation_failed', { param: 'group_by', message })
}
