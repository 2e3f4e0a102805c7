/** Usage of calls with their descendants; additions to the spec. */
import type { z } from 'zod'
import { parseQuery } from '../../domain/query/query-expression.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import {
  CallsUsageRequest,
  TraceUsageRequest,
  USAGE_CALLS_DEFAULT,
  USAGE_FIELDS,
  UsageResponse,
} from '../../schemas/usage/usage.ts'
import type { Stores } from '../../store/api/stores.ts'

type UsageRequest = Omit<z.output<typeof CallsUsageRequest>, 'call_ids'>

export async function usageRoutes(
  app: App,
  { usage, prices }: Pick<Stores, 'usage' | 'prices'>,
): Promise<void> {
  /** Resolves the fields that the requests of both routes share. */
  async function resolve({ project_id, include_costs, usage_counting, limit }: UsageRequest) {
    return {
      project_id,
      prices: include_costs ? await prices.listPrices(project_id) : null,
      counting: usage_counting ?? 'own',
      limit: limit ?? USAGE_CALLS_DEFAULT,
    }
  }

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
    async ({ filter, query, ...body }, caller) => {
      const expression = query ? parseQuery(query, { fields: new Set(USAGE_FIELDS) }) : null
      const resolved = await resolve(body)
      return usage.sumTraceUsage({ ...resolved, filter: filter ?? {}, expression }, caller)
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
    async ({ call_ids, ...body }, caller) =>
      usage.sumCallsUsage({ ...(await resolve(body)), call_ids }, caller),
  )
}
