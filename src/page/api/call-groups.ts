/** Reads the calls of a time range by groups. */
import { requestJson } from './client.ts'
import type { StatsQueryBody, StatsResponse } from './wire.ts'

export interface GroupSums {
  readonly calls: number
  readonly errors: number
  readonly tokens: number
  /** US dollars; null if nothing has a price. */
  readonly cost: number | null
}

/** A group of calls. */
export interface CallGroup extends GroupSums {
  /** Null for calls without one. */
  readonly name: string | null
  /** The start of the first and last call; null when they were not requested. */
  readonly firstAt: string | null
  readonly lastAt: string | null
}

export interface CallGroups {
  readonly rows: readonly CallGroup[]
  /** All groups after the limit; null when there are none. */
  readonly others: (GroupSums & { readonly groups: number }) | null
}

/** What groups are sorted by, by the key of the metric. */
export const GROUP_SORTS = {
  name: 'group',
  calls: 'count',
  errors: 'sum_error_count',
  tokens: 'sum_total_tokens',
  cost: 'sum_total_cost',
  first: 'first_started_at',
  last: 'last_started_at',
} as const
export type GroupSort = keyof typeof GROUP_SORTS

interface GroupScope {
  readonly project: string
  readonly fromMs: number
  readonly toMs: number
  readonly filter?: StatsQueryBody['filter']
}

interface Grouping {
  readonly field: string
  readonly sort: GroupSort
  readonly direction?: 'asc' | 'desc'
  readonly limit: number
  readonly search?: string
  readonly times?: boolean
}

export async function readCallGroups(
  { project, fromMs, toMs, filter }: GroupScope,
  { field, sort, direction = 'desc', limit, search = '', times = false }: Grouping,
  signal: AbortSignal,
): Promise<CallGroups> {
  const question: StatsQueryBody = {
    project_id: project,
    start: new Date(fromMs).toISOString(),
    end: new Date(toMs).toISOString(),
    call_metrics: [{ metric: 'error_count' }],
    usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
    ...(filter === undefined ? {} : { filter }),
    group_by: {
      field,
      sort_by: { field: GROUP_SORTS[sort], direction },
      limit,
      search: search === '' ? null : search,
      times,
    },
  }
  const { groups = [], other_groups } = await requestJson<StatsResponse>('/calls/stats', question, {
    signal,
  })
  return {
    rows: groups.map((group) => ({
      name: group.group,
      firstAt: group.first_started_at ?? null,
      lastAt: group.last_started_at ?? null,
      ...sumsOf(group),
    })),
    others: other_groups ? { groups: other_groups.groups, ...sumsOf(other_groups) } : null,
  }
}

function sumsOf(values: Readonly<Record<string, unknown>>): GroupSums {
  const { count, sum_error_count, sum_total_tokens, sum_total_cost } = values
  // Without usage the cost is 0, which says nothing about prices.
  const isPriced =
    typeof sum_total_cost === 'number' && Number(sum_total_tokens) + sum_total_cost > 0
  return {
    calls: Number(count),
    errors: Number(sum_error_count),
    tokens: Number(sum_total_tokens),
    cost: isPriced ? sum_total_cost : null,
  }
}
