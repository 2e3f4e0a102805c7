/** The read jobs of agents, which walk the calls that were received as spans a bounded part at a time. */
import { type AgentSpan, compareNs, toAgentSpan } from '../../../domain/agents/agent-span.ts'
import { createSpanRows, type SpanList, type SpanPage } from '../../../domain/agents/span-list.ts'
import { SPAN_READS, type SpanRead } from '../../../domain/agents/span-reads.ts'
import {
  createScopeMatcher,
  type SpanScope,
  type SpanSteps,
  type SpanWalk,
  type TraceWalk,
} from '../../../domain/agents/span-scope.ts'
import { spanField } from '../../../domain/agents/span-values.ts'
import { createTraceIdentities, namesInherited } from '../../../domain/agents/trace-identity.ts'
import type { Body } from '../../../domain/calls/call-fields.ts'
import { createKeyPicker } from '../../../domain/query/row-query.ts'
import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import { NAMED_COLUMNS } from '../calls/query/calls-query.sql.ts'
import { beginWalk, createCallReader, type FoundKey, walkKeys } from '../calls/query/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_CONVERSATION_TRACES, SELECT_SPANS } from './agents.sql.ts'

/** Calls that one statement filters for spans. */
const CHUNK_CALLS = 1024
/** Limit: spans of one microsecond that are sorted together; more are sorted in parts. */
const TIES_MAX = 10_000
/** Limit: spans that wait for the spans of their traces to be read. */
const WAITING_MAX = 64

/**
 * Passes the keys of spans to `take` in time order, those of one microsecond by nanoseconds. Ignores the expression of
 * the scope.
 *
 * @param take - its pauses; none for work that reads nothing
 */
function* walkSpanKeys(
  db: Connection,
  { project_id, filter, startedUs }: SpanScope,
  direction: 'asc' | 'desc',
  checkpoint: Checkpoint,
  take: (keys: readonly FoundKey[]) => Iterable<void>,
): Generator<void, void> {
  const selection = { project_id, filter, startedUs, direction }
  const selectSpans = db.prepare(SELECT_SPANS).pluck()
  const order = createTieOrder(db, direction, checkpoint)
  yield* walkKeys(db, selection, beginWalk(db), checkpoint, function* (found) {
    for (let at = 0; at < found.length; at += CHUNK_CALLS) {
      const chunk = found.slice(at, at + CHUNK_CALLS)
      const keys = `[${chunk.map(([key]) => key).join()}]`
      const spanKeys = new Set(selectSpans.all({ keys }) as number[])
      const ordered = yield* order.add(chunk.filter(([key]) => spanKeys.has(key)))
      if (ordered.length > 0) yield* take(ordered)
      if (checkpoint()) yield
    }
    return true
  })
  const last = yield* order.end()
  if (last.length > 0) yield* take(last)
}

/** Sorts keys that arrive in microsecond order by nanoseconds, for which it reads the spans. */
function createTieOrder(db: Connection, direction: 'asc' | 'desc', checkpoint: Checkpoint) {
  const readSpans = createSpanReader(db, false, checkpoint)
  /** The keys of the last microsecond, which may be incomplete. */
  let buffer: readonly FoundKey[] = []

  function* sortTies(keys: readonly FoundKey[]): Generator<void, readonly FoundKey[]> {
    const starts = new Map<number, bigint>()
    yield* readSpans(keys, (span) => {
      starts.set(keyOfSpan(span), span.start_ns)
    })
    const sign = direction === 'asc' ? 1 : -1
    return keys.toSorted(
      ([left], [right]) => sign * compareNs(starts.get(left) ?? 0n, starts.get(right) ?? 0n),
    )
  }

  return {
    /** Adds keys; returns those whose order is final. */
    *add(keys: readonly FoundKey[]): Generator<void, readonly FoundKey[]> {
      const all = [...buffer, ...keys]
      const ordered: FoundKey[] = []
      let from = 0
      for (let to = 1; to < all.length; to += 1) {
        if (all[to]?.[1] === all[from]?.[1] && to - from < TIES_MAX) continue
        const tied = all.slice(from, to)
        ordered.push(...(tied.length > 1 ? yield* sortTies(tied) : tied))
        from = to
      }
      buffer = all.slice(from)
      return ordered
    },
    *end(): Generator<void, readonly FoundKey[]> {
      return buffer.length > 1 ? yield* sortTies(buffer) : buffer
    },
  }
}

/** Returns the key of a span; the reader of calls includes it. */
function keyOfSpan({ call }: AgentSpan): number {
  return (call as typeof call & { readonly call_key: number }).call_key
}

/** Performs a walk over spans. */
function scanSpans(
  db: Connection,
  { scope, direction, withMessages, withInherited, take }: SpanWalk,
  checkpoint: Checkpoint,
): Generator<void, void> {
  const matches = createScopeMatcher(scope)
  const readSpans = withInherited
    ? createInheritingReader(db, scope.project_id, withMessages, checkpoint)
    : createSpanReader(db, withMessages, checkpoint)
  return walkSpanKeys(db, scope, direction, checkpoint, (keys) =>
    readSpans(keys, (span) => {
      if (matches(span)) take(span)
    }),
  )
}

/** Returns a function that reads the spans of keys, in order, with the agent and the conversation of their traces. */
function createInheritingReader(
  db: Connection,
  project_id: string,
  withMessages: boolean,
  checkpoint: Checkpoint,
) {
  const readSpans = createSpanReader(db, withMessages, checkpoint)
  const readOthers = createSpanReader(db, false, checkpoint)
  const identities = createTraceIdentities()

  function* learnTraces(spans: readonly AgentSpan[]): Generator<void, void> {
    const trace_ids = [...identities.begin(spans)]
    if (trace_ids.length === 0) return
    const selection = { project_id, filter: { trace_ids }, startedUs: ANY_TIME }
    const walk = { ...selection, direction: 'asc' } as const
    yield* walkKeys(db, walk, beginWalk(db), checkpoint, function* (keys) {
      yield* readOthers(keys, identities.add)
      return true
    })
  }

  return function* (
    keys: readonly FoundKey[],
    take: (span: AgentSpan) => void,
  ): Generator<void, void> {
    for (let at = 0; at < keys.length; at += WAITING_MAX) {
      const spans: AgentSpan[] = []
      yield* readSpans(keys.slice(at, at + WAITING_MAX), (span) => spans.push(span))
      yield* learnTraces(spans)
      for (const span of spans) take(identities.inherit(span))
    }
  }
}

/** Returns a function that reads the spans of keys, in order. */
function createSpanReader(db: Connection, withMessages: boolean, checkpoint: Checkpoint) {
  const wanted: Body[] = ['attributes', ...(withMessages ? (['inputs', 'output'] as const) : [])]
  const readCalls = createCallReader(db, new Set(wanted), new Set(NAMED_COLUMNS), checkpoint)
  return function* (
    keys: readonly FoundKey[],
    take: (span: AgentSpan) => void,
  ): Generator<void, void> {
    yield* readCalls(keys, (call) => {
      const span = toAgentSpan(call)
      if (span !== null) take(span)
      return true
    })
  }
}

export const listSpans: ReadJob<SpanList, SpanPage> = function* (db, list, checkpoint) {
  const { scope, sort, direction, shape, prices } = list
  const picked = createKeyPicker<FoundKey, AgentSpan>(list, spanField)
  if (scope.expression === null && sort.length === 0) {
    yield* walkSpanKeys(db, scope, direction, checkpoint, (keys) => {
      for (const key of keys) picked.add(key, null)
      return []
    })
  } else {
    const take = (span: AgentSpan) => {
      picked.add([keyOfSpan(span), span.call.started_at_us, span.call.id], span)
    }
    const withInherited = namesInherited([scope.expression, sort])
    const walk = { scope, direction, withMessages: false, withInherited, take }
    yield* scanSpans(db, walk, checkpoint)
  }
  const page = createSpanRows(shape, prices)
  const readSpans = createInheritingReader(db, scope.project_id, shape.withDetails, checkpoint)
  yield* readSpans(picked.keys(), page.add)
  return { spans: page.rows(), total_count: picked.count() }
}

interface NamedRead {
  readonly name: SpanRead
  /** The input of the read of that name. */
  readonly input: unknown
}

export const performRead: ReadJob<NamedRead, unknown> = function* (
  db,
  { name, input },
  checkpoint,
) {
  const steps = (SPAN_READS[name] as (input: unknown) => SpanSteps<unknown>)(input)
  let step = steps.next()
  for (; !step.done; step = steps.next()) {
    const walk = step.value
    if ('scope' in walk) yield* scanSpans(db, walk, checkpoint)
    else findTraces(db, walk, checkpoint)
  }
  return step.value
}

function findTraces(
  db: Connection,
  { project_id, conversation_id, take }: TraceWalk,
  checkpoint: Checkpoint,
): void {
  const select = db.prepare(FIND_CONVERSATION_TRACES).raw()
  for (const row of select.iterate({ project_id, conversation_id })) {
    const [trace_id, started_at_us] = row as [string, number]
    take(trace_id, started_at_us)
    checkpoint()
  }
}
