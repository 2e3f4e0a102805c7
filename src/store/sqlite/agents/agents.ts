/** Agents in SQLite: jobs of the readers. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { SpanRead, SpanReadInput, SpanReadResult } from '../../../domain/agents/span-reads.ts'
import type { AgentStore } from '../../api/agents/agents.ts'
import type { ReadPool } from '../read/read-pool.ts'

export function createAgentStore(reads: ReadPool): AgentStore {
  return {
    listSpans: (list, caller) => reads.run('span_list', list, caller),
    async read<Name extends SpanRead>(name: Name, input: SpanReadInput<Name>, caller: ReadCaller) {
      return (await reads.run('span_reads', { name, input }, caller)) as SpanReadResult<Name>
    },
  }
}
