/** Usage of calls with their descendants; additions to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { parseQuery } from '../../domain/query/query-expression.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  CallsUsageRequest,
  TraceUsageRequest,
  USAGE_CALLS_DEFAULT,
  USAGE_FIELDS,
  UsageResponse,
} from '../../schemas/usage/usage.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'
import type { UsageStore } from '../../store/api/usage/usage.ts'

export interface UsageRoutesOptions {
  readonly usage: UsageStore
  readonly prices: PriceStore
}

export async function usageRoutes(app: App, { usage, prices }: UsageRoutesOptions): Promise<void> {
  app.post(
    '/trace/usage',
    {
      schema: {
        tags: ['calls'],
        operationId: 'getTraceUsage',
        summary: 'Usage of the calls of a trace, each with its descendants (addition to the spec).',
        body: TraceUsageRequest,
        response: { 200: UsageResponse },
      },
    },
    async (request, reply) => {
      const { project_id, filter, query, include_costs, usage_counting, limit } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      return usage.sumTraceUsage(
        {
          project_id,
          filter: filter ?? {},
          expression: query ? parseQuery(query, { fields: new Set(USAGE_FIELDS) }) : null,
          prices: include_costs ? await prices.listPrices(project_id) : null,
          counting: usage_counting ?? 'own',
          limit: limit ?? USAGE_CALLS_DEFAULT,
        },
        caller,
      )
    },
  )

  app.post(
    '/calls/usage',
    {
      schema: {
        tags: ['calls'],
        operationId: 'getCallsUsage',
        summary: 'Usage of calls by id, each with all its descendants (addition to the spec).',
        body: CallsUsageRequest,
        response: { 200: UsageResponse },
      },
    },
    async (request, reply) => {
      const { project_id, call_ids, include_costs, usage_counting, limit } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      return usage.sumCallsUsage(
        {
          project_id,
          call_ids,
          prices: include_costs ? await prices.listPrices(project_id) : null,
          counting: usage_counting ?? 'own',
          limit: limit ?? USAGE_CALLS_DEFAULT,
        },
        caller,
      )
    },
  )
}
