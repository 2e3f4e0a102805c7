/** Metrics of Langfuse's SDKs over the statistics of calls. Additions to the spec. */
import { renderMetrics, toStatsRequest } from '../../domain/langfuse/metrics.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import { MetricsQuery } from '../../schemas/langfuse/metrics.ts'
import type { CallStatsResponse } from '../../schemas/stats/stats.ts'
import type { Stores } from '../../store/api/stores.ts'
import { renderCallStats } from '../stats/stats.ts'

export type MetricsOptions = Pick<Stores, 'prices' | 'stats'>

/** Limit: values of the statistics behind one response. */
const VALUES_MAX = 100_000

export async function metricsRoutes(app: App, options: MetricsOptions): Promise<void> {
  const schema = { querystring: MetricsQuery }
  app.get('/v2/metrics', { schema }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { query } = request.query
    const asked = toStatsRequest(query, project_id)
    const { chunks } = await renderCallStats(asked, reader, options, VALUES_MAX)
    const stats = JSON.parse(Buffer.concat(chunks).toString()) as CallStatsResponse
    return { data: renderMetrics(query, stats) }
  })
}
