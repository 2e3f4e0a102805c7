/** The read jobs behind turns: the spans of traces as chats, and those of conversations. */
import type { AgentSpan } from '../../../domain/agents/agent-span.ts'
import {
  createConversations,
  createTraceOrder,
  createTurns,
  pageOfTraces,
  TRACES_AT_ONCE,
} from '../../../domain/agents/turns.ts'
import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import type {
  ConversationsQuery,
  SpansOfConversation,
  Turns,
  TurnsQuery,
} from '../../api/agents/agents.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_CONVERSATION_TRACES } from './agents.sql.ts'
import { scanSpans } from './span-scan.ts'

export const readTurns: ReadJob<TurnsQuery, Turns> = function* (db, query, checkpoint) {
  const { project_id, of } = query
  const traces =
    'trace_id' in of ? [of.trace_id] : findTraces(db, project_id, of.conversation_id, checkpoint)
  const page = 'trace_id' in of ? traces : pageOfTraces(traces, of)
  const found = createTurns()
  if (page.length > 0) {
    const filter = { trace_ids: [...page] }
    const scope = { project_id, filter, startedUs: ANY_TIME, expression: null }
    yield* scanSpans(
      db,
      scope,
      { direction: 'asc', withMessages: true },
      checkpoint,
      takeAll(found),
    )
  }
  const turns = found.render(page, query)
  return { turns, total: 'trace_id' in of ? turns.length : traces.length }
}

export const listConversationSpans: ReadJob<ConversationsQuery, readonly SpansOfConversation[]> =
  function* (db, { project_id, conversation_ids, startedUs }, checkpoint) {
    const conversations = createConversations()
    for (const conversation_id of conversation_ids) {
      const trace_ids = findTraces(db, project_id, conversation_id, checkpoint)
      conversations.begin(conversation_id, trace_ids)
      for (let at = 0; at < trace_ids.length; at += TRACES_AT_ONCE) {
        const filter = { trace_ids: trace_ids.slice(at, at + TRACES_AT_ONCE) }
        const scope = { project_id, filter, startedUs, expression: null }
        const options = { direction: 'asc', withMessages: false } as const
        yield* scanSpans(db, scope, options, checkpoint, takeAll(conversations))
      }
    }
    return conversations.answer()
  }

function takeAll(taker: { add(span: AgentSpan): void }) {
  return (span: AgentSpan) => {
    taker.add(span)
    return true
  }
}

/** Returns the traces of a conversation, oldest first. */
function findTraces(
  db: Connection,
  project_id: string,
  conversation_id: string,
  checkpoint: Checkpoint,
): string[] {
  const order = createTraceOrder()
  const select = db.prepare(FIND_CONVERSATION_TRACES).raw()
  for (const row of select.iterate({ project_id, conversation_id })) {
    const [trace_id, started_at_us] = row as [string, number]
    order.add(trace_id, started_at_us)
    checkpoint()
  }
  return order.traceIds()
}
