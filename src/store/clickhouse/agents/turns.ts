/** The spans of traces as chats, and those of conversations. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import {
  createConversations,
  createTraceOrder,
  createTurns,
  pageOfTraces,
  TRACES_AT_ONCE,
  TRACES_MAX,
} from '../../../domain/agents/turns.ts'
import { ANY_TIME } from '../../../domain/query/time-bounds.ts'
import type {
  ConversationsQuery,
  SpansOfConversation,
  Turns,
  TurnsQuery,
} from '../../api/agents/agents.ts'
import type { Reads } from '../db/reads.ts'
import { SELECT_CONVERSATION_TRACES } from './agents.sql.ts'
import { scanSpans } from './span-scan.ts'

export async function readTurns(
  reads: Reads,
  query: TurnsQuery,
  caller: ReadCaller,
): Promise<Turns> {
  const { project_id, of } = query
  const traces =
    'trace_id' in of
      ? [of.trace_id]
      : await findTraces(reads, project_id, of.conversation_id, caller)
  const page = 'trace_id' in of ? traces : pageOfTraces(traces, of)
  const found = createTurns()
  if (page.length > 0) {
    const filter = { trace_ids: [...page] }
    const scope = { project_id, filter, startedUs: ANY_TIME, expression: null }
    const options = { direction: 'asc', withMessages: true } as const
    for await (const spans of scanSpans(reads, scope, options, caller)) spans.forEach(found.add)
  }
  const turns = found.render(page, query)
  return { turns, total: 'trace_id' in of ? turns.length : traces.length }
}

export async function listConversationSpans(
  reads: Reads,
  { project_id, conversation_ids, startedUs }: ConversationsQuery,
  caller: ReadCaller,
): Promise<readonly SpansOfConversation[]> {
  const conversations = createConversations()
  for (const conversation_id of conversation_ids) {
    const trace_ids = await findTraces(reads, project_id, conversation_id, caller)
    conversations.begin(conversation_id, trace_ids)
    for (let at = 0; at < trace_ids.length; at += TRACES_AT_ONCE) {
      const filter = { trace_ids: trace_ids.slice(at, at + TRACES_AT_ONCE) }
      const scope = { project_id, filter, startedUs, expression: null }
      const options = { direction: 'asc', withMessages: false } as const
      for await (const spans of scanSpans(reads, scope, options, caller)) {
        spans.forEach(conversations.add)
      }
    }
  }
  return conversations.answer()
}

/** The traces of a conversation, the oldest first. */
async function findTraces(
  reads: Reads,
  project_id: string,
  conversation_id: string,
  caller: ReadCaller,
): Promise<string[]> {
  const order = createTraceOrder()
  const parameters = { project_id, thread_ids: [conversation_id], limit: TRACES_MAX + 1 }
  type Trace = { readonly trace_id: string; readonly started_at_us: number }
  const rows = reads.stream<Trace>(SELECT_CONVERSATION_TRACES, parameters, caller)
  for await (const part of rows) {
    for (const { trace_id, started_at_us } of part) order.add(trace_id, started_at_us)
  }
  return order.traceIds()
}
