/** Calls written straight into a store, for tests of what statistics are made of. */
import type { CallEnd, CallStart } from '../../../src/domain/calls/new-call.ts'
import type { CallUsage } from '../../../src/domain/usage/usage.ts'
import type { StatsQuery } from '../../../src/store/api/stats/stats.ts'
import type { SqliteStore } from '../../../src/store/sqlite/open.ts'
import { readCaller } from '../../support/read-caller.ts'

export const PROJECT = 'acme/demo'
export const HOUR_US = 3_600_000_000
/** 2026-01-01T00:00:00Z. */
export const BASE_US = Date.UTC(2026, 0, 1) * 1000

export interface TestCall {
  readonly id: string
  readonly startedUs: number
  /** null while it runs. */
  readonly latencyUs: number | null
  readonly op: string
  readonly user: string
  readonly run: string | null
  /** Default: none. */
  readonly endUser?: string | null
  readonly isRoot: boolean
  /** Of a call that is no root; default: one that is never stored. */
  readonly parentId?: string
  readonly isError: boolean
  readonly usage: readonly CallUsage[]
}

export function startOf(call: TestCall): CallStart {
  const { id, startedUs, op, user, run, endUser, isRoot, parentId } = call
  return {
    project_id: PROJECT,
    id,
    sent_trace_id: null,
    trace_id: `t-${id}`,
    op_name: op,
    parent_id: isRoot ? null : (parentId ?? 'above'),
    thread_id: null,
    turn_id: null,
    display_name: null,
    svc_user_id: user,
    svc_username: user,
    svc_run_id: run,
    svc_run_step: null,
    end_user_id: endUser ?? null,
    attributes_json: '{}',
    inputs_json: '{}',
    otel_dump_json: null,
    input_refs: [],
    started_at_us: startedUs,
    start_size_bytes: 4,
  }
}

export function endOf({ id, startedUs, latencyUs, isError, usage }: TestCall): CallEnd {
  return {
    project_id: PROJECT,
    id,
    ended_at_us: startedUs + (latencyUs ?? 0),
    exception: isError ? 'failed' : null,
    svc_run_step_end: null,
    output_refs: [],
    output_json: 'null',
    summary_json: '{}',
    end_size_bytes: 6,
    usage: [...usage],
  }
}

/** Returns the call of a number; calls take turns among the first hours. */
export function callInTurn(index: number, hours: number): TestCall {
  return {
    id: `c${index}`,
    startedUs: BASE_US + (index % hours) * HOUR_US + index * 1_000_000,
    latencyUs: index * 7000,
    op: 'op',
    user: 'u',
    run: null,
    isRoot: true,
    isError: false,
    usage: [usageOf('gpt-4o', index, 1)],
  }
}

/** No tokens that are paid at a price of their own. */
const NO_KINDS = {
  input_audio_tokens: 0,
  input_image_tokens: 0,
  cache_read_audio_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  reasoning_tokens: 0,
  output_audio_tokens: 0,
  output_image_tokens: 0,
  reported_cost_microcents: 0,
}

export function usageOf(model: string, input: number, output: number, cached = 0): CallUsage {
  return {
    model,
    provider: null,
    upstream_model: null,
    service_tier: null,
    reports_cost: false,
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    uncached_input_tokens: Math.max(0, input - cached),
    ...NO_KINDS,
    requests: 1,
    tells_requests: true,
  }
}

/** All metrics with all that can be asked of them. */
export const ALL_COLUMNS = {
  callColumns: (['latency_ms', 'call_count', 'error_count'] as const).flatMap((metric) =>
    (['sum', 'avg', 'min', 'max', 'count', 'count_true', 'count_false', 50, 95, 99.9] as const).map(
      (of) => ({ key: `${of}_${metric}`, metric, of }),
    ),
  ),
  usageColumns: (['input_tokens', 'cache_read_input_tokens', 'total_cost'] as const).flatMap(
    (metric) =>
      (['sum', 'avg', 'min', 'max', 'count', 50] as const).map((of) => ({
        key: `${of}_${metric}`,
        metric,
        of,
      })),
  ),
} satisfies Partial<StatsQuery>

/** What sums alone can tell. */
export const SUM_COLUMNS = {
  callColumns: ALL_COLUMNS.callColumns,
  usageColumns: ALL_COLUMNS.usageColumns.filter(({ of }) => of === 'sum' || of === 'avg'),
} satisfies Partial<StatsQuery>

/** The statistics as requested, and computed from the rows: a filter by call ids cannot use columns. */
export async function askBothWays(store: SqliteStore, query: StatsQuery, ids: readonly string[]) {
  const caller = readCaller()
  const prices = await store.prices.listPrices(query.project_id)
  const filter = { ...query.filter, call_ids: [...ids, 'no-such-call'] }
  return {
    found: await store.stats.aggregate({ ...query, prices }, caller),
    fromRows: await store.stats.aggregate({ ...query, prices, filter }, caller),
  }
}
