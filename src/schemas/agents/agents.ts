/** Agents and their versions on the wire. Additions to the spec. */
import { z } from 'zod'
import { nameOf } from '../primitives.ts'
import {
  count,
  include_costs,
  limitOf,
  offset,
  project_id,
  sort_by,
  time,
  usd,
} from './span-values.ts'

export const AGENTS_LIMIT = 100
const AgentName = nameOf(1024)

export const AgentsQueryRequest = z
  .strictObject({
    project_id,
    filters: z
      .strictObject({ agent_name: AgentName.nullish().describe('Only this agent.') })
      .nullish()
      .describe('Which agents.'),
    include_costs,
    limit: limitOf(AGENTS_LIMIT),
    offset,
    sort_by: sort_by.describe('Order. Default: descending by last_seen.'),
  })
  .meta({ id: 'AgentsQueryRequest', description: 'Which agents of a project.' })

export const AgentVersionsQueryRequest = z
  .strictObject({
    project_id,
    agent_name: AgentName.describe('Agent whose versions are listed.'),
    include_costs,
    limit: limitOf(AGENTS_LIMIT),
    offset,
    sort_by: sort_by.describe('Order. Default: descending by last_seen.'),
  })
  .meta({ id: 'AgentVersionsQueryRequest', description: 'Which versions of an agent.' })

export const AgentRow = z
  .object({
    project_id,
    agent_name: z.string().describe('Name of the agent.'),
    invocation_count: count('Spans in which the agent was invoked.'),
    span_count: count('Spans that name the agent.'),
    error_count: count('Those that failed.'),
    total_input_tokens: count('Input tokens of its model calls, cached ones included.'),
    total_output_tokens: count('Output tokens of its model calls.'),
    total_duration_ms: count('Milliseconds that these spans took in all.'),
    total_cost_usd: usd,
    first_seen: time.describe('Start of its first span.'),
    last_seen: time.describe('Start of its last span.'),
  })
  .meta({ id: 'AgentRow', description: 'Totals of the spans of an agent.' })
export type AgentRow = z.infer<typeof AgentRow>

const AgentVersionRow = AgentRow.extend({
  agent_version: z.string().describe('Version; empty when spans name none.'),
}).meta({ id: 'AgentVersionRow', description: 'Totals of the spans of a version of an agent.' })

export const AgentsQueryResponse = z.object({
  agents: z.array(AgentRow).describe('The page.'),
  total_count: count('Agents in all.'),
})
export const AgentVersionsQueryResponse = z.object({
  versions: z.array(AgentVersionRow).describe('The page.'),
  total_count: count('Versions in all.'),
})
