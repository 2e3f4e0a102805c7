/** The application without its process: registers everything in the order in which a request passes it. */
import Fastify, { type FastifyServerOptions, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import type { Deps } from './deps.ts'
import type { Clock } from './domain/time/clock.ts'
import { answerEnd } from './http/answer-end.ts'
import type { App } from './http/app-type.ts'
import {
  useBasicAuthentication,
  useBearerAuthentication,
  useEitherAuthentication,
} from './http/authentication.ts'
import { contentEncoding } from './http/body/content-encoding.ts'
import { jsonBody } from './http/body/json-body.ts'
import { limitQuestions } from './http/body/question-bodies.ts'
import { useNeutralNames, useVendorNames } from './http/body/spelling.ts'
import { unreadBody } from './http/body/unread-body.ts'
import { NO_OTHER_COMPILERS, validation } from './http/body/validation.ts'
import { createClock } from './http/clock.ts'
import { documentScope, openapi } from './http/document/openapi.ts'
import { answerClientErrors, errorHandler } from './http/error-handler.ts'
import { oddRequests } from './http/odd-requests.ts'
import { chooseRequestId, requestLog } from './http/request-log.ts'
import { requestWatch } from './http/request-watch.ts'
import { drain } from './http/stream/drain.ts'
import { graphqlRoutes } from './routes/access/graphql.ts'
import { healthRoutes } from './routes/access/health.ts'
import { keyRoutes } from './routes/access/keys.ts'
import { metricsRoutes } from './routes/access/metrics.ts'
import { missingRoutes } from './routes/access/missing.ts'
import { serverInfoRoutes, versionRoutes } from './routes/access/server-info.ts'
import { agentChatRoutes } from './routes/agents/agent-chat.ts'
import { agentSpanRoutes } from './routes/agents/agent-spans.ts'
import { agentRoutes } from './routes/agents/agents.ts'
import { annotationItemRoutes } from './routes/annotation/annotation-items.ts'
import { annotationRoutes } from './routes/annotation/annotation-queues.ts'
import { callBatchRoutes } from './routes/calls/call-batches.ts'
import { callDownloadRoutes, callExportRoutes } from './routes/calls/call-exports.ts'
import { callRoutes } from './routes/calls/calls.ts'
import { callsQueryRoutes } from './routes/calls/calls-query.ts'
import { evalResultsRoutes } from './routes/calls/eval-results.ts'
import { evaluationCallRoutes } from './routes/calls/evaluation-calls.ts'
import { createExportTickets } from './routes/calls/export-tickets.ts'
import { completionCreateRoutes } from './routes/chat/completion-create.ts'
import { type Inference, inferenceRoutes, openInference } from './routes/chat/inference.ts'
import { feedbackRoutes } from './routes/feedback/feedback.ts'
import { feedbackQueryRoutes } from './routes/feedback/feedback-query.ts'
import { feedbackStatsRoutes } from './routes/feedback/feedback-stats.ts'
import { backendRoutes } from './routes/models/backends.ts'
import { modelRoutes } from './routes/models/models.ts'
import { fileRoutes } from './routes/objects/files.ts'
import { objectKindRoutes } from './routes/objects/object-kinds.ts'
import { objectMarkRoutes } from './routes/objects/object-marks.ts'
import { objectRoutes } from './routes/objects/objects.ts'
import { refRoutes } from './routes/objects/refs.ts'
import { tableRoutes } from './routes/objects/tables.ts'
import { spanIntake } from './routes/otel/span-intake.ts'
import { traceExportRoutes } from './routes/otel/trace-export.ts'
import { answerUnrouted } from './routes/page/mended-address.ts'
import { pageRoutes } from './routes/page/page.ts'
import { costRoutes } from './routes/prices/costs.ts'
import { projectRoutes } from './routes/projects/projects.ts'
import { projectSettingsRoutes } from './routes/projects/settings.ts'
import { statsRoutes } from './routes/stats/stats.ts'
import { threadRoutes } from './routes/threads/threads.ts'
import { previewRoutes } from './routes/training/preview.ts'
import { trajectoryRoutes } from './routes/training/trajectories.ts'
import { workerRoutes } from './routes/training/worker.ts'
import { usageRoutes } from './routes/usage/usage.ts'

const { version } = packageJson

/**
 * Builds the app over opened dependencies. The caller closes both, the app first.
 *
 * @param logger - a pino configuration, or false
 */
export async function buildApp(
  config: Config,
  deps: Deps,
  logger: FastifyServerOptions['logger'] = false,
): Promise<App> {
  const app: App = Fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger per request would cost as much as its log line; the few lines that need its id add it themselves.
    childLoggerFactory: (log) => log,
    bodyLimit: config.bodyBytesMax,
    // Missing ones are refused with the other odd requests. Node looks for late requests every 30 s by default.
    http: { requireHostHeader: false, connectionsCheckingInterval: 1_000 },
    requestTimeout: config.requestTimeoutMs,
    return503OnClosing: false,
    genReqId: chooseRequestId,
    clientErrorHandler: answerClientErrors(deps.metrics),
    frameworkErrors: answerUnrouted,
    schemaController: { compilersFactory: NO_OTHER_COMPILERS },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
  }).withTypeProvider<ZodTypeProvider>()
  if (deps.backupFault()) app.log.warn(`no backup beside this server: ${deps.backupFault()}`)
  app.decorateRequest('principal', null).decorateRequest('refusal', null)

  await app.register(errorHandler)
  await app.register(answerEnd)
  await app.register(requestLog)
  await app.register(requestWatch, { watch: deps.metrics })
  await app.register(drain, { drainTimeoutMs: config.drainTimeoutMs })
  await app.register(oddRequests, { watch: deps.metrics })
  await app.register(unreadBody)
  await app.register(contentEncoding)
  await app.register(jsonBody)
  await app.register(validation)
  await app.register(openapi, { version })

  await app.register(healthRoutes, { checkStore: deps.checkStore })
  await app.register(versionRoutes, { version })
  await app.register(pageRoutes, { refScheme: config.refScheme })

  const clock = createClock()
  const { nowUs } = clock
  const inference = openInference(app, toInferenceOptions(config, deps, nowUs))
  const tickets = createExportTickets()
  await app.register(async (basic: App) => {
    documentScope(basic, 'basic')
    await useBasicAuthentication(basic, deps.keys.findPrincipal)
    useNeutralNames(basic)
    await registerTraceRoutes(basic, { config, deps, inference, clock })
    await basic.register(callExportRoutes, { tickets })
    await basic.register(graphqlRoutes)
  })
  await app.register(callDownloadRoutes, {
    ...toCallLinesOptions(config, deps),
    ...{ tickets, findPrincipal: deps.keys.findPrincipal },
  })
  await app.register(
    async (traces: App) => {
      useVendorNames(traces)
      await traces.register(healthRoutes, { checkStore: deps.checkStore })
      await traces.register(versionRoutes, { version })
      await traces.register(serverInfoRoutes, { version })
      await traces.register(async (basic: App) => {
        await useBasicAuthentication(basic, deps.keys.findPrincipal)
        await registerTraceRoutes(basic, { config, deps, inference, clock })
      })
    },
    { prefix: '/traces' },
  )

  await app.register(spanIntake, toSpanIntakeOptions(config, deps, nowUs))
  await app.register(async (either: App) => {
    documentScope(either, ['basic', 'bearer'])
    useEitherAuthentication(either, deps.keys.findPrincipal)
    const { callsQuery, metrics, readFigures } = deps
    await either.register(metricsRoutes, { metrics, readFigures, inference, version })
    await either.register(traceExportRoutes, { callsQuery, refScheme: config.refScheme })
  })

  await app.register(async (bearer: App) => {
    documentScope(bearer, 'bearer')
    useBearerAuthentication(bearer, deps.keys.findPrincipal)
    await registerBearerRoutes(bearer, { config, deps, inference, clock })
  })
  await app.register(
    async (missing: App) => {
      await useBasicAuthentication(missing, deps.keys.findPrincipal)
      await missing.register(missingRoutes)
    },
    { prefix: '/traces' },
  )

  return app
}

interface GroupOptions {
  readonly config: Config
  readonly deps: Deps
  readonly inference: Inference
  readonly clock: Clock
}

function toInferenceOptions(config: Config, deps: Deps, nowUs: () => number) {
  return {
    models: deps.models,
    trained: deps.previewModels,
    checkpoints: deps.checkpoints,
    completionsMax: config.chatQueueMax,
    keyCompletionsMax: config.keyCompletionsMax,
    keyRequestsPerMinute: config.keyRequestsPerMinute,
    keyTokensPerMinute: config.keyTokensPerMinute,
    recordings: deps.recordings,
    watch: deps.metrics,
    refScheme: config.refScheme,
    nowUs,
  }
}

function toSpanIntakeOptions(config: Config, deps: Deps, nowUs: () => number) {
  return {
    ...{ calls: deps.calls, feedback: deps.feedback, reader: deps.traceReader, nowUs },
    ...{ refScheme: config.refScheme, feedbackPayloadBytesMax: config.feedbackPayloadBytesMax },
    ...{ host: config.host, otlpGrpcPort: config.otlpGrpcPort },
    otlpBodyBytesMax: config.otlpBodyBytesMax,
    ...{ findPrincipal: deps.keys.findPrincipal, watch: deps.metrics },
    onStored: deps.metrics.spansStored,
  }
}

function toCallLinesOptions({ refScheme }: Config, deps: Deps) {
  const { callsQuery, prices, feedback, objects, tables } = deps
  return { callsQuery, prices, feedback, objects, tables, refScheme }
}

/** The routes below /v1. */
async function registerBearerRoutes(
  bearer: App,
  { config, deps, inference, clock }: GroupOptions,
): Promise<void> {
  const { nowUs } = clock
  const { models, responses } = deps
  const { bodyBytesMax } = config
  await bearer.register(inferenceRoutes, { inference, responses, bodyBytesMax, nowUs })
  await bearer.register(modelRoutes, { models, choice: inference.choice })
  await bearer.register(backendRoutes, { models, meter: inference.run.meter })
  await bearer.register(keyRoutes, { keys: deps.keys })
  await bearer.register(previewRoutes, {
    models: deps.previewModels,
    jobs: deps.trainingJobs,
    checkpoints: deps.checkpoints,
    trainingBodyBytesMax: config.trainingBodyBytesMax,
    dataDir: config.dataDir,
    nowUs,
  })
  await bearer.register(trajectoryRoutes, {
    callsQuery: deps.callsQuery,
    prices: deps.prices,
    feedback: deps.feedback,
    refScheme: config.refScheme,
  })
  await bearer.register(workerRoutes, {
    queue: deps.trainingQueue,
    jobs: deps.trainingJobs,
    checkpoints: deps.checkpoints,
    settings: config.training,
    artifactBytesMax: config.artifactBytesMax,
    clock,
    nowUs,
  })
}

/** The trace API, in neutral names; `scope.spelling` is how the scope writes them. */
async function registerTraceRoutes(
  scope: App,
  { config, deps, inference, clock }: GroupOptions,
): Promise<void> {
  const { nowUs } = clock
  limitQuestions(scope, config.bodyBytesMax)
  await scope.register(callRoutes, {
    calls: deps.calls,
    prices: deps.prices,
    refScheme: config.refScheme,
    nowUs,
  })
  await scope.register(callBatchRoutes, { calls: deps.calls, refScheme: config.refScheme })
  await scope.register(callsQueryRoutes, toCallLinesOptions(config, deps))
  await scope.register(threadRoutes, { threads: deps.threads })
  const { agents, prices } = deps
  await scope.register(agentRoutes, { agents, prices })
  await scope.register(agentSpanRoutes, { agents, prices })
  await scope.register(agentChatRoutes, {
    ...{ agents, prices, feedback: deps.feedback, refScheme: config.refScheme },
  })
  await scope.register(statsRoutes, { stats: deps.stats, prices: deps.prices })
  await scope.register(usageRoutes, { usage: deps.usage, prices: deps.prices })
  await scope.register(feedbackRoutes, {
    ...{ feedback: deps.feedback, payloadBytesMax: config.feedbackPayloadBytesMax, nowUs },
  })
  await scope.register(feedbackQueryRoutes, { feedback: deps.feedback })
  await scope.register(feedbackStatsRoutes, { feedback: deps.feedback, nowUs })
  const { annotation } = deps
  await scope.register(annotationRoutes, { annotation, nowUs })
  await scope.register(annotationItemRoutes, { annotation, nowUs })
  await scope.register(costRoutes, { prices: deps.prices, nowUs })
  await scope.register(objectRoutes, { objects: deps.objects, nowUs })
  await scope.register(objectMarkRoutes, { objects: deps.objects })
  await scope.register(tableRoutes, { tables: deps.tables })
  await scope.register(fileRoutes, { files: deps.files, fileBytesMax: config.bodyBytesMax })
  await scope.register(refRoutes, { objects: deps.objects, tables: deps.tables })
  const { projects, callsQuery, files, objects, tables, retention } = deps
  await scope.register(projectRoutes, { projects, callsQuery, files })
  await scope.register(evaluationCallRoutes, {
    ...{ calls: deps.calls, callsQuery, nowUs, refScheme: config.refScheme },
  })
  await scope.register(evalResultsRoutes, { callsQuery, prices, objects, tables })
  await scope.register(objectKindRoutes, {
    ...{ objects, tables, files, nowUs, refScheme: config.refScheme },
  })
  await scope.register(completionCreateRoutes, { inference, objects, tables })
  await scope.register(projectSettingsRoutes, { retention, defaultDays: config.retentionDays })
}
