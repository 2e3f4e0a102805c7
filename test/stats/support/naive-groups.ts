/** Groups of calls computed the obvious way over raw calls. The oracle of the proofs. */
import { errorType } from '../../../src/domain/stats/groups.ts'
import { renderTimestamp } from '../../../src/schemas/timestamp.ts'
import {
  AGGREGATIONS,
  CALL_METRICS,
  type FindPrice,
  type Question,
  type RawCall,
  summarizeCalls,
  summarizeUsage,
  toStatsBody,
  USAGE_METRICS,
  usageOf,
  wantedCalls,
} from './naive-stats.ts'

const FIELDS = [
  'end_user_id',
  'svc_user_id',
  'op_name',
  'model',
  'provider',
  'status',
  'error_type',
]
const WITH_TIMES = ['end_user_id', 'svc_user_id', 'op_name']
const SORTS = [
  'count',
  'group',
  'sum_total_cost',
  'avg_latency_ms',
  'sum_error_count',
  'max_latency_ms',
  'sum_total_tokens',
]
const LIMITS = [1, 2, 100]
const SEARCHES = [null, null, 'U', null, null, 'e', null, null, null, null, null, 'nothing']
/** Of a usage metric. */
const SUMS = ['sum', 'avg', 'count']

export interface Grouping {
  readonly field: string
  readonly sort_by: { readonly field: string; readonly direction: 'asc' | 'desc' }
  readonly limit: number
  readonly search: string | null
  readonly times: boolean
}

/** Groupings by fields one after the other; different ones for different numbers. */
export function groupingsOf(number: number, count: number): Grouping[] {
  return Array.from({ length: count }, (_, index) => {
    const field = FIELDS[(number * count + index) % FIELDS.length] as string
    const turn = number * 5 + index
    const times = WITH_TIMES.includes(field) && turn % 3 !== 0
    const sorts = times ? [...SORTS, 'first_started_at', 'last_started_at'] : SORTS
    return {
      field,
      sort_by: {
        field: sorts[turn % sorts.length] as string,
        direction: turn % 2 === 0 ? 'asc' : 'desc',
      },
      limit: LIMITS[turn % LIMITS.length] as number,
      search: SEARCHES[turn % SEARCHES.length] ?? null,
      times,
    }
  })
}

/** All groups of a field, with times where it has them. */
export function allGroupsBy(field: string): Grouping {
  const sort_by = { field: 'group', direction: 'asc' } as const
  return { field, sort_by, limit: 100, search: null, times: WITH_TIMES.includes(field) }
}

function namesOf(call: RawCall, field: string): (string | null)[] {
  const usage = Object.entries(call.end?.usage ?? {})
  const exception = call.end?.exception ?? null
  if (field === 'status') {
    return [call.end === null ? 'running' : exception === null ? 'success' : 'error']
  }
  if (field === 'error_type') return exception === null ? [] : [errorType(exception)]
  if (field === 'model') return usage.length === 0 ? [null] : usage.map(([model]) => model)
  if (field === 'provider') {
    return usage.length === 0 ? [null] : [...new Set(usage.map(([, { provider }]) => provider))]
  }
  return [call[field as 'op_name' | 'svc_user_id' | 'end_user_id']]
}

type Member = readonly [call: RawCall, name: string | null]

export function naiveGroups(
  calls: readonly RawCall[],
  question: Question,
  findPrice: FindPrice,
  { field, sort_by, limit, search, times }: Grouping,
) {
  const members = wantedCalls(calls, question).flatMap((call) =>
    namesOf(call, field).map((name): Member => [call, name]),
  )
  const matching = members.filter(
    ([, name]) => search === null || name?.toLowerCase().includes(search.toLowerCase()) === true,
  )

  function valuesOf(of: readonly Member[]): Record<string, unknown> {
    const rows = of.flatMap(([call, name]) =>
      Object.entries(call.end?.usage ?? {}).flatMap(([model, { provider }]) => {
        if (field === 'model' && model !== name) return []
        if (field === 'provider' && provider !== name) return []
        return usageOf(model, call, findPrice)
      }),
    )
    const starts = of.map(([call]) => call.started_us)
    const usage = Object.entries(Object.assign({}, ...summarizeUsage(rows)))
    const all = Object.assign({}, ...summarizeCalls(of.map(([call]) => call)))
    return {
      ...(times
        ? {
            first_started_at: renderTimestamp(Math.min(...starts)),
            last_started_at: renderTimestamp(Math.max(...starts)),
          }
        : {}),
      ...Object.fromEntries(Object.entries(all).filter(([key]) => !/^p\d/.test(key))),
      ...Object.fromEntries(
        usage.filter(([key]) =>
          SUMS.some((of) => key.startsWith(`${of}_`) && !/^count_(true|false)/.test(key)),
        ),
      ),
      count: of.length,
    }
  }

  const groups = [...Map.groupBy(matching, ([, name]) => name)].map(([group, of]) => ({
    group,
    of,
    values: valuesOf(of),
  }))
  const sign = sort_by.direction === 'asc' ? 1 : -1
  const byName = (a: string | null, b: string | null) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
    return a === b ? 0 : a < b ? -1 : 1
  }
  groups.sort((a, b) => {
    if (sort_by.field === 'group') return sign * byName(a.group, b.group)
    const [left, right] = [a, b].map(({ values }) => values[sort_by.field] ?? null) as [
      number | string | null,
      number | string | null,
    ]
    if (left === right) return byName(a.group, b.group)
    if (left === null || right === null) return left === null ? 1 : -1
    return left < right ? -sign : sign
  })
  const rest = groups.slice(limit)
  return {
    groups: groups.slice(0, limit).map(({ group, values }) => ({ group, ...values })),
    other_groups:
      rest.length === 0 ? null : { groups: rest.length, ...valuesOf(rest.flatMap(({ of }) => of)) },
  }
}

/** The body of `/calls/stats` that asks for all that groups have. */
export function toGroupsBody(project_id: string, question: Question, group_by: Grouping) {
  const bare = (metrics: readonly string[], aggregations: readonly string[]) =>
    metrics.map((metric) => ({ metric, aggregations }))
  return {
    ...toStatsBody(project_id, question),
    call_metrics: bare(CALL_METRICS, AGGREGATIONS),
    usage_metrics: bare(USAGE_METRICS, SUMS),
    group_by,
  }
}
