/** Agents in SQLite: jobs of the readers. */
import type { AgentStore } from '../../api/agents/agents.ts'
import type { ReadPool } from '../read/read-pool.ts'

export function createAgentStore(reads: ReadPool): AgentStore {
  return {
    listSpans: (list, caller) => reads.run('agent_spans', list, caller),
    groupSpans: (scope, grouping, caller) => reads.run('agent_groups', { scope, grouping }, caller),
    measureSpans: (scope, plan, caller) => reads.run('agent_stats', { scope, plan }, caller),
    listAttributes: (scope, page, caller) => reads.run('agent_attributes', { scope, page }, caller),
    searchMessages: (scope, search, caller) => reads.run('agent_search', { scope, search }, caller),
    readTurns: (query, caller) => reads.run('agent_turns', query, caller),
    listConversationSpans: (query, caller) => reads.run('agent_conversations', query, caller),
  }
}
