/** Usage of calls with their descendants; additions to the spec. */
import { parseQuery } from '../../domain/query/query-expression.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-read.ts'
import {
  CallsUsageRequest,
  TraceUsageRequest,
  USAGE_CALLS_DEFAULT,
  USAGE_FIELDS,
  UsageResponse,
} from '../../schemas/usage/usage.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'
import type { UsageStore } from '../../store/api/usage/usage.ts'

interface UsageRoutesOptions {
  readonly usage: UsageStore
  readonly prices: PriceStore
}

export async function usageRoutes(app: App, { usage, prices }: UsageRoutesOptions): Promise<void> {
  addProjectRead(
    app,
    '/trace/usage',
    {
      tags: ['calls'],
      operationId: 'getTraceUsage',
      summary:
        'Sum up the usage of each call of a trace with its descendants (addition to the spec).',
      body: TraceUsageRequest,
      response: UsageResponse,
    },
    async (body, caller) => {
      const { project_id, filter, query, include_costs, usage_counting, limit } = body
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

  addProjectRead(
    app,
    '/calls/usage',
    {
      tags: ['calls'],
      operationId: 'getCallsUsage',
      summary: 'Sum up the usage of calls by id, each with its descendants (addition to the spec).',
      body: CallsUsageRequest,
      response: UsageResponse,
    },
    async ({ project_id, call_ids, include_costs, usage_counting, limit }, caller) => {
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
