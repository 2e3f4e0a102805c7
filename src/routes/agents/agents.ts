/** Agents that spans name, and their versions. Additions to the spec, in the format of the tracing SDKs. */
import { resolveAgents, toAgentRow } from '../../domain/agents/groups/agent-groups.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import {
  AGENTS_LIMIT,
  AgentsQueryRequest,
  AgentsQueryResponse,
  AgentVersionsQueryRequest,
  AgentVersionsQueryResponse,
} from '../../schemas/agents/agents.ts'
import type { Stores } from '../../store/api/stores.ts'

export type AgentRoutesOptions = Pick<Stores, 'agents' | 'prices'>

export async function agentRoutes(app: App, { agents, prices }: AgentRoutesOptions): Promise<void> {
  addProjectRead(
    app,
    '/agents/query',
    {
      tags: ['agents'],
      operationId: 'listAgents',
      summary:
        'List the agents that spans name, with totals of their spans (addition to the spec).',
      body: AgentsQueryRequest,
      response: AgentsQueryResponse,
    },
    async ({ project_id, filters, include_costs, ...page }, caller) => {
      const listed = include_costs ? await prices.listPrices(project_id) : null
      const agent_name = filters?.agent_name ?? null
      const query = resolveAgents({ project_id, agent_name, ...page }, listed, AGENTS_LIMIT)
      const { groups, total_count } = await agents.read('groups', query, caller)
      return { agents: groups.map((group) => toAgentRow(group, project_id)), total_count }
    },
  )

  addProjectRead(
    app,
    '/agents/agent-versions/query',
    {
      tags: ['agents'],
      operationId: 'listAgentVersions',
      summary: 'List the versions of an agent, with totals of their spans (addition to the spec).',
      body: AgentVersionsQueryRequest,
      response: AgentVersionsQueryResponse,
    },
    async ({ project_id, include_costs, ...body }, caller) => {
      const listed = include_costs ? await prices.listPrices(project_id) : null
      const wanted = { project_id, withVersions: true, ...body }
      const query = resolveAgents(wanted, listed, AGENTS_LIMIT)
      const { groups, total_count } = await agents.read('groups', query, caller)
      return {
        versions: groups.map((group) => ({
          ...toAgentRow(group, project_id),
          agent_version: String(group.group_keys.agent_version ?? ''),
        })),
        total_count,
      }
    },
  )
}
