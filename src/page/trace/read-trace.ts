/** Fetches the calls of a trace and their usage. */
import { requestJson, requestLines } from '../api/client.ts'
import type { Call, Usage, UsageSummary } from '../api/wire.ts'

/** Limit: calls of a trace that are drawn. */
const CALLS_MAX = 100_000
/** Calls in the first part of a trace to be shown, and the growth factor of the next parts. */
const PART_CALLS = 250
const PART_GROWTH = 8
/** Limit: calls per request for usage. */
const USAGE_CALLS_MAX = 50_000
/** The fields that the tree needs. Bodies are fetched when a call is opened. */
const COLUMNS = ['display_name', 'parent_id', 'thread_id', 'ended_at', 'exception', 'summary']

/**
 * Returns the calls of the trace that contains a call, ordered by start.
 *
 * @param id - of the call, or of the trace, as other SDKs print it
 * @param tell - called with the calls loaded so far of a long trace
 */
export async function readTrace(
  project_id: string,
  id: string,
  signal: AbortSignal,
  tell: (calls: readonly Call[]) => void,
): Promise<readonly Call[]> {
  const one = { project_id, filter: { call_ids: [id] }, columns: ['parent_id'] }
  const [call] = await Array.fromAsync(requestLines<Call>('/calls/stream_query', one, { signal }))
  const filter = { trace_ids: [call?.trace_id ?? id] }
  const body = { project_id, filter, columns: COLUMNS, limit: CALLS_MAX }
  const calls: Call[] = []
  let next = PART_CALLS
  for await (const each of requestLines<Call>('/calls/stream_query', body, { signal })) {
    calls.push(each)
    if (calls.length < next) continue
    next *= PART_GROWTH
    tell([...calls])
  }
  if (calls.length === 0) throw new Error('There is no such call; it may have been deleted.')
  return calls
}

/** Limit: calls of a trace whose attributes are read for their kinds. */
const KINDS_MAX = 300

/** The attribute `kind` of the calls that have one; none for a long trace. */
export async function readKinds(
  project_id: string,
  calls: readonly Call[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const [first] = calls
  const kinds = new Map<string, string>()
  if (first === undefined || calls.length > KINDS_MAX) return kinds
  const filter = { trace_ids: [first.trace_id] }
  const body = { project_id, filter, columns: ['attributes'], limit: KINDS_MAX }
  for await (const { id, attributes } of requestLines<Call>('/calls/stream_query', body, {
    signal,
  }))
    if (typeof attributes.kind === 'string') kinds.set(id, attributes.kind)
  return kinds
}

/** Usage of each call with all below it, each token counted once; none for a trace that is too large. */
export async function readTraceUsage(
  project_id: string,
  calls: readonly Call[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Usage>> {
  const [first] = calls
  if (first === undefined || calls.length > USAGE_CALLS_MAX) return new Map()
  const body = {
    project_id,
    filter: { trace_ids: [first.trace_id] },
    include_costs: true,
    limit: USAGE_CALLS_MAX,
  }
  const { call_usage } = await requestJson<UsageSummary>('/trace/usage', body, { signal })
  return new Map(Object.entries(call_usage))
}
