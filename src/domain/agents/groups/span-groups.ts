/** Groups spans, with the counts, measures and distributions of each group. Pure. */

import type { AgentSpanGroup, AgentSpansQueryRequest } from '../../../schemas/agents/agent-spans.ts'
import type { SpanDistributionSpec } from '../../../schemas/agents/span-values.ts'
import { layerPrices, type ProjectPrice } from '../../prices/project-prices.ts'
import { orderForSort } from '../../query/query-values.ts'
import { type AgentSpan, textColumn } from '../agent-span.ts'
import { costsOf } from '../span-costs.ts'
import { promptOf, readSpanMessages, responseOf } from '../span-messages.ts'
import {
  createGroupMeasures,
  createGroups,
  type GroupFilter,
  type GroupMeasure,
  type GroupMeasures,
  type GroupRef,
  isInRange,
  requireDistinct,
  requireSameGroups,
  resolveGroupFilters,
  resolveGroupRefs,
  resolveMeasure,
} from './measured-groups.ts'
import {
  createDistribution,
  createDistributionEntries,
  type Distribution,
} from './span-distributions.ts'
import { type Cell, createBudget } from './span-measures.ts'
import { createSpanTotals, type SpanTotals } from './span-totals.ts'

const PREVIEW_CHARS_MAX = 200

export interface SpanGrouping {
  readonly refs: readonly GroupRef[]
  readonly measures: readonly GroupMeasure[]
  /** Filters over the groups of refs. */
  readonly filters: readonly GroupFilter[]
  readonly distributions: readonly SpanDistributionSpec[]
  readonly sort: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[]
  readonly offset: number
  readonly limit: number
  /** The project's own; null: no costs are wanted. */
  readonly prices: readonly ProjectPrice[] | null
  /** Whether the first prompt and the last response are shown. */
  readonly withMessages: boolean
  /** Groups of agents: only spans that name this one, or any for null, and the tokens of the model calls they make. */
  readonly ofAgents?: { readonly agent_name: string | null }
}

type GroupRequest = Pick<
  AgentSpansQueryRequest,
  'group_by' | 'measures' | 'group_filters' | 'group_distributions' | 'sort_by' | 'offset' | 'limit'
>

/** The grouping of a request. @throws ApiError validation_failed, query_invalid */
export function resolveGrouping(
  { group_by, measures, group_filters, group_distributions, sort_by, offset, limit }: GroupRequest,
  prices: readonly ProjectPrice[] | null,
  limitDefault: number,
): SpanGrouping {
  const refs = resolveGroupRefs(group_by, 'group_by')
  const specs = (measures ?? []).map((each, index) => resolveMeasure(each, `measures[${index}]`))
  requireDistinct([...refs.map(({ name }) => name), ...specs.map(({ alias }) => alias)])
  const distributions = group_distributions ?? []
  requireDistinct(distributions.map(({ alias }) => alias))
  const filters = resolveGroupFilters(group_filters)
  for (const [index, filter] of filters.entries()) requireSameGroups(filter, refs, index)
  return {
    refs,
    measures: specs,
    filters,
    distributions,
    sort: sort_by ?? [{ field: 'span_count', direction: 'desc' }],
    offset: offset ?? 0,
    limit: limit ?? limitDefault,
    prices,
    withMessages: refs.some(({ name }) => name === 'conversation_id'),
  }
}

interface Group {
  readonly values: readonly Cell[]
  readonly totals: SpanTotals
  /** Measures of the request, followed by the measures of its filters. */
  readonly measures: GroupMeasures
  readonly distributions: readonly Distribution[]
  readonly conversations: Set<string>
  first: string | null
  last: string | null
}

export interface GroupPage {
  readonly groups: readonly AgentSpanGroup[]
  readonly total_count: number
}

/** Groups of spans, which are added in the order of their time. @throws ApiError validation_failed for too many */
export function createSpanGroups(grouping: SpanGrouping) {
  const prices = grouping.prices && layerPrices(grouping.prices)
  const budget = createBudget()
  const filterMeasures = grouping.filters.map(({ measure }) => measure)
  const openMeasures = createGroupMeasures([...grouping.measures, ...filterMeasures], budget)
  const groups = createGroups<Group>(grouping.refs, budget, (values) => ({
    values,
    totals: createSpanTotals(),
    measures: openMeasures(),
    distributions: grouping.distributions.map((spec) => createDistribution(spec, budget)),
    conversations: new Set(),
    first: null,
    last: null,
  }))

  return {
    /** @returns the totals that the span counts to, for tokens that are not its own */
    add(span: AgentSpan, { withTokens = true } = {}): SpanTotals {
      const group = groups.find(span)
      group.totals.add(span)
      if (withTokens) group.totals.addTokens(span.usage, costsOf(span, prices))
      group.measures.add(span)
      for (const distribution of group.distributions) distribution.add(span)
      const conversation = textColumn(span, 'conversation_id')
      if (conversation !== null && !group.conversations.has(conversation)) {
        budget.keep(conversation)
        group.conversations.add(conversation)
      }
      if (grouping.withMessages) keepMessages(group, span)
      return group.totals
    },
    result(): GroupPage {
      const rows = groups.all().flatMap((group) => {
        const cells = group.measures.values()
        const limited = cells.slice(grouping.measures.length)
        const isListed = grouping.filters.every((filter, at) =>
          isInRange(filter, limited[at] ?? null),
        )
        return isListed ? [{ group, row: render(group, cells, grouping) }] : []
      })
      rows.sort((left, right) => compare(left.row, right.row, grouping.sort))
      const { offset, limit } = grouping
      const entries = createDistributionEntries()
      const page = rows.slice(offset, offset + limit).map(({ group, row }) => {
        const distributions = group.distributions.map((each) => each.render(entries))
        return {
          ...row,
          distributions: Object.fromEntries(distributions.map((each) => [each.alias, each])),
        }
      })
      return { groups: page, total_count: rows.length }
    },
  }
}

function keepMessages(group: Group, span: AgentSpan): void {
  const messages = readSpanMessages(span)
  const cut = (text: string) => text.trim().slice(0, PREVIEW_CHARS_MAX).toWellFormed() || null
  group.first ??= cut(promptOf(messages))
  group.last = cut(responseOf(messages)) ?? group.last
}

function render(
  { values, totals, conversations, first, last }: Group,
  cells: readonly Cell[],
  { refs, measures }: SpanGrouping,
): AgentSpanGroup {
  return {
    group_keys: Object.fromEntries(refs.map(({ name }, at) => [name, values[at] ?? null])),
    metrics: Object.fromEntries(measures.map(({ alias }, at) => [alias, cells[at] ?? null])),
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
