/** Usage over trees of calls in ClickHouse, summed up in the domain. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { USAGE_COUNTERS, type UsageCounters } from '../../../domain/usage/own-usage.ts'
import { isBefore, requestOfCall } from '../../../domain/usage/request-identity.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import type { TraceUsageQuery, UsageStore } from '../../api/usage/usage.ts'
import { runInTurns } from '../../base/read/pausing-work.ts'
import {
  byTrace,
  createFoundCalls,
  type FoundCall,
  renderCallsUsage,
  renderTraceUsage,
} from '../../base/usage/usage-trees.ts'
import { toFilterClause } from '../calls/query/calls-filter.ts'
import type { Reads } from '../db/reads.ts'
import { findFailures } from './failures.ts'
import { SELECT_TRACES, selectUsageRows } from './usage.sql.ts'

interface UsageRow {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly has_start: 0 | 1
  readonly has_end: 0 | 1
  readonly started_at_us: number
  readonly ended_at_us: number | null
  readonly exception: string | null
  readonly models: readonly string[]
  /** Of each model; empty: not known. */
  readonly providers: readonly string[]
  readonly upstream_models: readonly string[]
  readonly service_tiers: readonly string[]
  readonly reports_cost: readonly (0 | 1)[]
  readonly tells_requests: readonly (0 | 1)[]
  /** What identifies the request; empty: nothing. */
  readonly request_key: string
  readonly request_signature: string
  readonly linked_id: string
  /** The values by model of each of USAGE_COUNTERS. */
  readonly counters: readonly (readonly number[])[]
}

export function createUsageStore(reads: Reads): UsageStore {
  return {
    async sumTraceUsage(query, caller) {
      const { calls, rows } = await findCalls(reads, query, caller)
      return runInTurns(renderTraceUsage(withRequests(calls, rows), query), caller)
    },
    async sumCallsUsage(query, caller) {
      const { project_id, call_ids } = query
      const parameters = { project_id, call_ids }
      const traces = await reads.read<{ trace_id: string }>(SELECT_TRACES, parameters, caller)
      const filter = { trace_ids: traces.map(({ trace_id }) => trace_id) }
      if (traces.length === 0) return runInTurns(renderCallsUsage([], query), caller)
      const { calls, rows } = await findCalls(reads, { ...query, filter, expression: null }, caller)
      const found = byTrace(calls).map((trace) => withRequests(trace, rows))
      return runInTurns(renderCallsUsage(found, query), caller)
    },
    countFailures: (query, caller) => findFailures(reads, query, caller),
  }
}

interface TracesQuery extends Pick<TraceUsageQuery, 'project_id' | 'prices' | 'limit'> {
  readonly trace_ids: readonly string[]
}

/** Returns all calls of each trace. @throws ApiError validation_failed (param `limit`) for more than the limit */
export async function findTraces(
  reads: Reads,
  { trace_ids, ...query }: TracesQuery,
  caller: ReadCaller,
): Promise<FoundCall[][]> {
  if (trace_ids.length === 0) return []
  const selection = { ...query, filter: { trace_ids: [...trace_ids] }, expression: null }
  const { calls, rows } = await findCalls(reads, selection, caller)
  return byTrace(calls).map((trace) => withRequests(trace, rows))
}

async function findCalls(
  reads: Reads,
  query: Omit<TraceUsageQuery, 'counting'>,
  caller: ReadCaller,
) {
  const found = createFoundCalls(query)
  const byId = new Map<string, UsageRow>()
  const { conditions, parameters } = toFilterClause(query.project_id, query.filter)
  const rows = reads.stream<UsageRow>(selectUsageRows(conditions), parameters, caller)
  for await (const row of wholeCalls(rows)) {
    found.add(row, () => {
      byId.set(row.id, row)
      return { usage: readUsage(row), request: null }
    })
  }
  return { calls: found.take(), rows: byId }
}

/** Adds the requests that calls report: two that name each other must both be among these calls. */
function withRequests(calls: readonly FoundCall[], rows: Reporting): FoundCall[] {
  const reporting = new Map(
    calls.flatMap(({ id }) => {
      const row = rows.get(id)
      return row ? [[id, row]] : []
    }),
  )
  const linked = new Set([...reporting.values()].flatMap((row) => linkOf(row, reporting)?.id ?? []))
  return calls.map((call) => {
    const row = reporting.get(call.id)
    return row ? { ...call, request: requestOfRow(row, reporting, linked) } : call
  })
}

type Reporting = ReadonlyMap<string, UsageRow>

/** The call that another names as the same request, if it is one. Of two that name each other the later one does. */
function linkOf(row: UsageRow, reporting: Reporting): UsageRow | null {
  const other = reporting.get(row.linked_id)
  if (!other || other === row || row.request_signature === '') return null
  if (other.request_signature !== row.request_signature) return null
  return other.linked_id === row.id && isBefore(row, other) ? null : other
}

function requestOfRow(
  row: UsageRow,
  reporting: Reporting,
  linked: ReadonlySet<string>,
): string | null {
  const own = linkOf(row, reporting) ?? row
  if (own.request_key !== '') return own.request_key
  return own !== row || linked.has(row.id) ? requestOfCall(own.id, own.request_signature) : null
}

/** Merges the rows of a start and its end. */
async function* wholeCalls(
  rows: AsyncIterable<readonly UsageRow[]>,
): AsyncGenerator<UsageRow, void> {
  let call: UsageRow | null = null
  for await (const part of rows) {
    for (const row of part) {
      if (call?.id === row.id && call.started_at_us === row.started_at_us) {
        call = merge(call, row)
        continue
      }
      if (call?.has_start === 1) yield call
      call = row
    }
  }
  if (call?.has_start === 1) yield call
}

function merge(left: UsageRow, right: UsageRow): UsageRow {
  const end = left.has_end === 1 ? left : right
  const has_start = left.has_start === 1 ? 1 : right.has_start
  return { ...end, has_start, has_end: end.has_end }
}

function readUsage({ models, counters, ...row }: UsageRow): CallUsage[] {
  return models.map((model, at) => {
    const values = USAGE_COUNTERS.map((counter, of) => [counter, counters[of]?.[at] ?? 0])
    const read = Object.fromEntries(values) as UsageCounters
    return {
      model,
      provider: row.providers[at] || null,
      upstream_model: row.upstream_models[at] || null,
      service_tier: row.service_tiers[at] || null,
      reports_cost: row.reports_cost[at] === 1,
      tells_requests: row.tells_requests[at] === 1,
      ...read,
    }
  })
}
