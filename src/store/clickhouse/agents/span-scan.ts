/** Reads the calls that were received as spans, in one statement in order of time, and streams them. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import { type AgentSpan, compareNs, toAgentSpan } from '../../../domain/agents/agent-span.ts'
import {
  createScopeMatcher,
  type SpanScope,
  type SpanWalk,
} from '../../../domain/agents/span-scope.ts'
import { createTraceIdentities } from '../../../domain/agents/trace-identity.ts'
import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import { FIND_LOGGED_PROJECT } from '../calls/call-logs.sql.ts'
import { joinLogs } from '../calls/call-logs.ts'
import { type FoundRow, mergeRows } from '../calls/call-rows.ts'
import { type BodyColumn, selectRowsByKey } from '../calls/calls.sql.ts'
import { toFilterClause } from '../calls/query/calls-filter.ts'
import { type CallKey, partOf } from '../calls/query/calls-walk.ts'
import type { Parameters } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { selectSpans } from './agents.sql.ts'

/** Limits: rows of one microsecond that are sorted together, and their characters; beyond them in separate parts. */
const TIES_MAX = 10_000
const TIE_CHARS_MAX = 16 * 1024 * 1024

const DUMP: ReadonlySet<BodyColumn> = new Set(['otel_dump_json'])
const MESSAGES: ReadonlySet<BodyColumn> = new Set([...DUMP, 'inputs_json', 'output_json'])
/** Agents do not show the names that were given to calls. */
const NO_NAMES: ReadonlyMap<string, string | null> = new Map()

export function boundsOf({ project_id, filter, startedUs }: SpanScope) {
  const { conditions, parameters } = toFilterClause(project_id, filter)
  return { conditions, parameters: { ...parameters, from_us: startedUs.from, to_us: startedUs.to } }
}

/** Yields the spans of a scope in order of time, within a microsecond by nanoseconds, in parts. */
export async function* scanSpans(
  reads: Reads,
  { scope, direction, withMessages, withInherited }: Omit<SpanWalk, 'take'>,
  caller: ReadCaller,
): AsyncGenerator<readonly AgentSpan[], void> {
  const { conditions, parameters } = boundsOf(scope)
  const sql = selectSpans(conditions, direction, withMessages ? MESSAGES : DUMP)
  const matches = createScopeMatcher(scope)
  const order = createTieOrder(direction)
  let read = reads.streamWithin
  const readRows: ReadRows = (of, values) => read(of, values, caller)
  const inherit = createInheritance(scope.project_id, readRows)
  const addLogs = createLogJoin(scope.project_id, withMessages, readRows)
  const complete = async (spans: readonly AgentSpan[]) =>
    addLogs((withInherited ? await inherit(spans) : spans).filter(matches))
  for await (const rows of reads.stream<FoundRow>(sql, parameters, caller)) {
    yield await complete(rows.flatMap((row) => order.add(row)))
  }
  // The slot of the stream is free again.
  read = reads.stream
  yield await complete(order.end())
}

type ReadRows = (sql: string, parameters: Parameters) => AsyncIterable<readonly FoundRow[]>

/** Returns a function that gives spans the agent and the conversation of their traces, whose spans it reads. */
function createInheritance(project_id: string, read: ReadRows) {
  const identities = createTraceIdentities()
  return async (spans: readonly AgentSpan[]): Promise<AgentSpan[]> => {
    const unknown = identities.begin(spans)
    for (let at = 0; at < unknown.length; at += TRACES_AT_ONCE) {
      const filter = { trace_ids: unknown.slice(at, at + TRACES_AT_ONCE) }
      const bounds = boundsOf({ project_id, filter, startedUs: ANY_TIME, expression: null })
      const sql = selectSpans(bounds.conditions, 'asc', DUMP)
      for await (const rows of read(sql, bounds.parameters)) {
        const starts = rows.filter(({ otel_dump_json }) => otel_dump_json !== null)
        toSpans(starts).forEach(identities.add)
      }
    }
    return spans.map(identities.inherit)
  }
}

/** Returns a function that gives spans the messages of their records of logs, if the project has some. */
function createLogJoin(project_id: string, withMessages: boolean, readRows: ReadRows) {
  let hasLogs: boolean | null = withMessages ? null : false
  const read = <Found>(sql: string, parameters: Parameters) =>
    Array.fromAsync(readRows(sql, parameters)).then((parts) => parts.flat() as Found[])
  return async (spans: readonly AgentSpan[]): Promise<readonly AgentSpan[]> => {
    if (spans.length === 0) return spans
    hasLogs ??= (await read(FIND_LOGGED_PROJECT, { project_id })).length > 0
    if (!hasLogs) return spans
    const calls = new Map(spans.map(({ call }) => [call.id, call]))
    const joined = await joinLogs(read, project_id, calls)
    return spans.map((span) => ({ ...span, call: joined.get(span.call.id) ?? span.call }))
  }
}

/** Buffers rows until all of their microsecond have arrived: only the spans have the nanoseconds. */
function createTieOrder(direction: 'asc' | 'desc') {
  let tied: FoundRow[] = []
  let characters = 0

  function settle(): AgentSpan[] {
    const spans = toSpans(tied)
    tied = []
    characters = 0
    const sign = direction === 'asc' ? 1 : -1
    return spans.sort((left, right) => sign * compareNs(left.start_ns, right.start_ns))
  }

  return {
    /** Spans whose order is final. */
    add(row: FoundRow): AgentSpan[] {
      const last = tied.at(-1)
      const isFull = tied.length >= TIES_MAX || characters > TIE_CHARS_MAX
      const isNext =
        last && (last.started_at_us !== row.started_at_us || (isFull && last.id !== row.id))
      const settled = isNext ? settle() : []
      tied.push(row)
      for (const name of MESSAGES) characters += row[name]?.length ?? 0
      return settled
    },
    end: settle,
  }
}

function toSpans(rows: readonly FoundRow[]): AgentSpan[] {
  return [...mergeRows(rows, NO_NAMES).values()].flatMap((call) => toAgentSpan(call) ?? [])
}

/** Yields spans by their keys, in the order of the keys, with what they have from their traces, in parts. */
export async function* readSpans(
  reads: Reads,
  project_id: string,
  keys: readonly CallKey[],
  withMessages: boolean,
  caller: ReadCaller,
): AsyncGenerator<readonly AgentSpan[], void> {
  const sql = selectRowsByKey(withMessages ? MESSAGES : DUMP)
  const readRows: ReadRows = (of, values) => reads.stream(of, values, caller)
  const inherit = createInheritance(project_id, readRows)
  const addLogs = createLogJoin(project_id, withMessages, readRows)
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const part = keys.slice(at, at + KEYS_AT_ONCE)
    const rows = await reads.read<FoundRow>(sql, partOf(project_id, part), caller)
    const spans = new Map(toSpans(rows).map((span) => [span.call.id, span]))
    yield await addLogs(await inherit(part.flatMap(({ id }) => spans.get(id) ?? [])))
  }
}

/** Limit: spans of one statement. */
const KEYS_AT_ONCE = 100
/** Limit: traces of one statement. */
const TRACES_AT_ONCE = 100
