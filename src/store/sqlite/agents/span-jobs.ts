/** The read jobs of agents: lists of spans, and the walks of the reads that stores share. */
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import { createSpanRows, type SpanList, type SpanPage } from '../../../domain/agents/span-list.ts'
import { SPAN_READS, type SpanRead } from '../../../domain/agents/span-reads.ts'
import type { SpanSteps, TraceWalk } from '../../../domain/agents/span-scope.ts'
import { spanField } from '../../../domain/agents/span-values.ts'
import { namesInherited } from '../../../domain/agents/trace-identity.ts'
import { createKeyPicker } from '../../../domain/query/row-query.ts'
import type { FoundKey } from '../calls/query/calls-walk.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_CONVERSATION_TRACES } from './agents.sql.ts'
import { createInheritingReader, keyOfSpan, scanSpans, walkSpanKeys } from './span-scan.ts'

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
