/** Walks the calls that came as spans, a bounded part at a time. */
import { type AgentSpan, toAgentSpan } from '../../../domain/agents/agent-span.ts'
import { createScopeMatcher, type SpanScope } from '../../../domain/agents/span-scope.ts'
import type { Body } from '../../../domain/calls/call-fields.ts'
import { NAMED_COLUMNS } from '../calls/calls-query.sql.ts'
import { beginWalk, createCallReader, type FoundKey, walkKeys } from '../calls/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint } from '../read/read-job.ts'
import { KEEP_SPANS } from './agents.sql.ts'

/** Calls that one statement asks whether they are spans. */
const CHUNK_CALLS = 1024

export interface ScanOptions {
  readonly direction: 'asc' | 'desc'
  /** Whether messages are read. */
  readonly withMessages: boolean
}

/**
 * Hands the keys of spans over in order of time. The expression of the scope is not asked.
 *
 * @param take - false when no more are wanted
 */
export function walkSpanKeys(
  db: Connection,
  { project_id, filter, startedUs }: SpanScope,
  direction: 'asc' | 'desc',
  checkpoint: Checkpoint,
  take: (keys: readonly FoundKey[]) => Generator<void, boolean>,
): Generator<void, void> {
  const selection = { project_id, filter, startedUs, direction }
  const keepSpans = db.prepare(KEEP_SPANS).pluck()
  return walkKeys(db, selection, beginWalk(db), checkpoint, function* (found) {
    for (let at = 0; at < found.length; at += CHUNK_CALLS) {
      const chunk = found.slice(at, at + CHUNK_CALLS)
      const keys = `[${chunk.map(([key]) => key).join()}]`
      const kept = new Set(keepSpans.all({ keys }) as number[])
      if (kept.size > 0 && !(yield* take(chunk.filter(([key]) => kept.has(key))))) return false
      if (checkpoint()) yield
    }
    return true
  })
}

/** Hands the spans of a scope over in order of time, until `take` wants no more and gives false. */
export function scanSpans(
  db: Connection,
  scope: SpanScope,
  { direction, withMessages }: ScanOptions,
  checkpoint: Checkpoint,
  take: (span: AgentSpan) => boolean,
): Generator<void, void> {
  const matches = createScopeMatcher(scope)
  const readSpans = createSpanReader(db, withMessages, checkpoint)
  return walkSpanKeys(db, scope, direction, checkpoint, (keys) =>
    readSpans(keys, (span) => !matches(span) || take(span)),
  )
}

/** Reads the spans of keys, in their order. */
export function createSpanReader(db: Connection, withMessages: boolean, checkpoint: Checkpoint) {
  const wanted: Body[] = ['attributes', ...(withMessages ? (['inputs', 'output'] as const) : [])]
  const readCalls = createCallReader(db, new Set(wanted), new Set(NAMED_COLUMNS), checkpoint)
  return (
    keys: readonly FoundKey[],
    take: (span: AgentSpan) => boolean,
  ): Generator<void, boolean> =>
    readCalls(keys, (call) => {
      const span = toAgentSpan(call)
      return span === null || take(span)
    })
}
