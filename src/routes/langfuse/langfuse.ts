/**
 * The routes below /api/public that Langfuse's SDKs call, besides that for spans. They map onto calls, statistics,
 * feedback, objects and evaluations. Additions to the spec.
 */
import { renderMetrics, toStatsRequest } from '../../domain/langfuse/metrics.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { hideRoutes } from '../../http/document/openapi.ts'
import { requireLangfuseCaller, useLangfuseErrors } from '../../http/langfuse-scope.ts'
import { MetricsQuery } from '../../schemas/langfuse/metrics.ts'
import type { CallStatsResponse } from '../../schemas/stats/stats.ts'
import type { Stores } from '../../store/api/stores.ts'
import { renderCallStats } from '../stats/stats.ts'
import { createDatasetReader } from './dataset-reader.ts'
import { createDatasetWriter, type DatasetWriterOptions } from './dataset-writer.ts'
import { datasetRoutes } from './datasets.ts'
import { type MediaOptions, mediaRoutes } from './media.ts'
import { type ObservationOptions, observationRoutes } from './observations.ts'
import { type PromptOptions, promptRoutes } from './prompts.ts'
import { type RunOptions, runRoutes } from './runs.ts'
import { type ScoreOptions, scoreRoutes } from './scores.ts'
import { type SessionOptions, sessionRoutes } from './sessions.ts'
import { type TraceOptions, traceRoutes } from './traces.ts'

/** Limit: values of the statistics behind one response of metrics. */
const METRIC_VALUES_MAX = 100_000

interface LangfuseOptions
  extends DatasetWriterOptions,
    MediaOptions,
    ObservationOptions,
    PromptOptions,
    ScoreOptions,
    SessionOptions,
    TraceOptions,
    Omit<RunOptions, 'datasets'>,
    Pick<Stores, 'prices' | 'stats'> {
  readonly version: string
}

/** The caller has given the scope its credentials. */
export async function langfuseRoutes(app: App, options: LangfuseOptions): Promise<void> {
  hideRoutes(app)
  useLangfuseErrors(app)
  addProject(app, options)
  await app.register(scoreRoutes, options)
  await app.register(promptRoutes, options)
  const datasets = createDatasetReader(options)
  const writer = createDatasetWriter(options, datasets)
  await app.register(datasetRoutes, { ...options, datasets, writer })
  await app.register(runRoutes, { ...options, datasets })
  await app.register(observationRoutes, options)
  await app.register(traceRoutes, options)
  await app.register(sessionRoutes, options)
  await app.register(mediaRoutes, options)
  addMetrics(app, options)
  addMissing(app)
}

/** Clients check their keys by the project. */
function addProject(app: App, { version }: LangfuseOptions): void {
  app.get('/projects', async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:read')
    const [entity = '', name = ''] = project_id.split('/')
    const organization = { id: entity, name: entity }
    return { data: [{ id: project_id, name, organization, metadata: {}, retentionDays: null }] }
  })
  app.get('/health', async () => ({ status: 'OK', version }))
}

function addMetrics(app: App, { prices, stats }: LangfuseOptions): void {
  app.get('/v2/metrics', { schema: { querystring: MetricsQuery } }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { query } = request.query
    const asked = toStatsRequest(query, project_id)
    const stores = { prices, stats }
    const { chunks } = await renderCallStats(asked, reader, stores, METRIC_VALUES_MAX)
    const rendered = JSON.parse(Buffer.concat(chunks).toString()) as CallStatsResponse
    return { data: renderMetrics(query, rendered) }
  })
}

/** A 404, since the SDKs repeat requests that are answered with 501. */
function addMissing(app: App): void {
  app.all('/*', async () => {
    const message =
      "Weft does not have this route of Langfuse's API; docs/langfuse.md lists those that it has."
    throw new ApiError('unknown_url', { message })
  })
}
