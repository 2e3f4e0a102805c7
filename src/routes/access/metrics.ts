/** Metrics of the server for Prometheus. An addition to the spec. */
import { z } from 'zod'
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { renderGauges } from '../../metrics/gauges.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { renderProcessMetrics } from '../../metrics/process-metrics.ts'
import type { StoreMetricsSource } from '../../store/api/metrics.ts'
import type { Inference } from '../chat/inference.ts'

interface MetricsRoutesOptions extends StoreMetricsSource {
  readonly metrics: Pick<Metrics, 'render'>
  readonly inference: Inference
  readonly version: string
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Spec: §5 (not shown). Choice: a separate scope, so that a scraper needs no other right. The projects of its key do not
 * matter, since no metric is about one.
 */
export async function metricsRoutes(app: App, options: MetricsRoutesOptions): Promise<void> {
  const { metrics, inference, version, readMetrics } = options
  const { models, admission } = inference.run
  let running: Promise<string> | null = null

  async function render(): Promise<string> {
    const upstreams = models.listEntries().flatMap(({ id: model }) => {
      const states = models.getModel(model).backend.describeUpstreams?.() ?? []
      return states.map((state) => ({ ...state, model }))
    })
    const stores = await readMetrics()
    const texts = await Promise.all([
      metrics.render(),
      renderGauges({ version, stores, admission: admission.figures(), upstreams }),
      renderProcessMetrics(),
    ])
    return texts.join('')
  }

  const text = z.string().meta({ description: 'The text format of Prometheus, 0.0.4.' })
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['server'],
        operationId: 'getMetrics',
        summary: 'Metrics of the server in the Prometheus format (addition to the spec).',
        shown: {
          response: {
            200: { description: 'All metrics.', content: { 'text/plain': { schema: text } } },
          },
        },
      },
    },
    async (request, reply) => {
      requireScope(request.principal, 'metrics')
      // One at a time: concurrent requests share the result.
      running ??= render().finally(() => {
        running = null
      })
      return reply.header('content-type', CONTENT_TYPE).send(await running)
    },
  )
}
