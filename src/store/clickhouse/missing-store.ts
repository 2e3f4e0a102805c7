/** Stores that ClickHouse does not have: what asks them is refused with the reason. */
import { ApiError } from '../../errors.ts'
import type { AgentStore } from '../api/agents/agents.ts'

const ONLY_SQLITE = 'it is there with WEFT_STORE=sqlite alone.'

/** Spans are walked row by row, in readers of SQLite. */
export const noAgents: AgentStore = {
  listSpans: refuse('The list of spans'),
  groupSpans: refuse('The list of agents'),
  measureSpans: refuse('Statistics of spans'),
  listAttributes: refuse('The list of attributes'),
  searchMessages: refuse('The search in messages'),
  readTurns: refuse('The view of conversations'),
  listConversationSpans: refuse('The list of spans by conversation'),
}

function refuse(what: string): () => Promise<never> {
  return async () => {
    const message = `${what} cannot be had while calls are in ClickHouse: ${ONLY_SQLITE}`
    throw new ApiError('not_implemented', { message })
  }
}
