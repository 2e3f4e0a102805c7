/** The application without its process: registers everything in the order in which a request passes it. */
import Fastify, { type FastifyServerOptions, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import packageJson from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import type { Deps } from './deps.ts'
import type { Clock } from './domain/time/clock.ts'
import type { App } from './http/app-type.ts'
import {
  useBasicAuthentication,
  useBearerAuthentication,
  useEitherAuthentication,
  useKeyHeaderAuthentication,
} from './http/authentication.ts'
import { contentEncoding } from './http/body/content-encoding.ts'
import { jsonBody } from './http/body/json-body.ts'
import { useNeutralNames, useVendorNames } from './http/body/key-naming.ts'
import { unreadBody } from './http/body/unread-body.ts'
import { validation } from './http/body/validation.ts'
import { createClock } from './http/clock.ts'
import { noSniffing, sameOriginForms } from './http/cross-origin.ts'
import { documentScope, hideRoutes, openapi } from './http/document/openapi.ts'
import { errorHandler, handleClientErrors } from './http/error-handler.ts'
import {
  chooseRequestId,
  requestLog,
  responseEnd,
  useRequestIdHeader,
} from './http/log/request-log.ts'
import { requestWatch } from './http/log/request-observer.ts'
import { unknownProject } from './http/project-header.ts'
import { sessions } from './http/sign-in/sessions.ts'
import { drain } from './http/stream/drain.ts'
import { unsupportedRequests } from './http/unsupported-requests.ts'
import {
  registerBearerRoutes,
  registerMessageRoutes,
  registerTraceRoutes,
  toCallLinesOptions,
  toLangfuseOptions,
  toSpanIntakeOptions,
} from './route-groups.ts'
import { graphqlRoutes } from './routes/access/graphql.ts'
import { healthRoutes } from './routes/access/health.ts'
import { metricsRoutes } from './routes/access/metrics.ts'
import { missingRoutes } from './routes/access/missing.ts'
import { passwordRoutes } from './routes/access/passwords.ts'
import { serverInfoRoutes, versionRoutes } from './routes/access/server-info.ts'
import { signInRoutes } from './routes/access/sign-in.ts'
import { createLargeBodies } from './routes/bodies/large-bodies.ts'
import { callDownloadRoutes, callExportRoutes } from './routes/calls/call-exports.ts'
import { contentRoutes } from './routes/chat/contents.ts'
import { type Inference, openInference } from './routes/chat/inference.ts'
import { createServerEvaluations } from './routes/evaluations/server-evaluations.ts'
import { openEvaluators } from './routes/evaluators/evaluator-runner.ts'
import { langfuseRoutes } from './routes/langfuse/langfuse.ts'
import { mediaFileRoutes } from './routes/langfuse/media.ts'
import { pageLinkRoutes } from './routes/langfuse/page-links.ts'
import { mcpRoutes } from './routes/mcp/mcp.ts'
import { spanIntake } from './routes/otel/span-intake.ts'
import { traceExportRoutes } from './routes/otel/trace-export.ts'
import { respondToUnrouted } from './routes/page/normalized-address.ts'
import { pageRoutes } from './routes/page/page.ts'

const { version } = packageJson
/** Limit in milliseconds for the headers of a request. */
const HEADERS_MS_MAX = 60_000

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
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    bodyLimit: config.bodyBytesMax,
    http: toHttpOptions(config),
    requestTimeout: config.requestTimeoutMs,
    // A slow machine is no reason to give a start up.
    pluginTimeout: 0,
    return503OnClosing: false,
    genReqId: chooseRequestId,
    clientErrorHandler: handleClientErrors(deps.metrics),
    frameworkErrors: respondToUnrouted,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
  }).withTypeProvider<ZodTypeProvider>()
  if (deps.backupFault()) app.log.warn(`no backup beside this server: ${deps.backupFault()}`)
  app.decorateRequest('principal', null).decorateRequest('refusal', null)

  await registerHttp(app, config, deps)

  await app.register(healthRoutes, { checkStore: deps.checkStore })
  await app.register(versionRoutes, { version })
  const { signIn } = config
  const clock = createClock()
  const { nowUs } = clock
  await app.register(signInRoutes, { signIn, people: deps.people, nowUs })
  await app.register(passwordRoutes, { signIn, passwords: deps.passwords, nowUs })
  await app.register(pageRoutes, { refScheme: config.refScheme })

  const { keys } = deps
  const inference = openInference(app, toInferenceOptions(config, deps, nowUs))
  const evaluations = createServerEvaluations(
    app,
    toEvaluationOptions(config, deps, inference, nowUs),
  )
  openEvaluators(app, toRunnerOptions(config, deps, inference, nowUs))
  const bodies = createLargeBodies({ refScheme: config.refScheme, nowUs })
  app.addHook('onClose', bodies.close)
  const traceOptions = { config, deps, inference, clock, bodies, evaluations }
  await app.register(async (basic: App) => {
    documentScope(basic, 'basic')
    await useBasicAuthentication(basic, keys)
    useNeutralNames(basic)
    await registerTraceRoutes(basic, traceOptions)
    await basic.register(callExportRoutes, { exportTickets: deps.exportTickets, nowUs })
    await basic.register(graphqlRoutes)
  })
  await app.register(callDownloadRoutes, { ...deps, ...toCallLinesOptions(config, deps), nowUs })
  await registerVendorTraces(app, traceOptions)

  await app.register(spanIntake, toSpanIntakeOptions(config, deps, nowUs))
  await app.register(async (either: App) => {
    documentScope(either, ['basic', 'bearer'])
    useEitherAuthentication(either, keys)
    const { audit, callsQuery, metrics, readMetrics } = deps
    await either.register(metricsRoutes, { metrics, readMetrics, inference, version })
    await either.register(traceExportRoutes, { audit, callsQuery, refScheme: config.refScheme })
    await either.register(mcpRoutes, { ...toMcpOptions(config, deps, nowUs), inference })
  })

  await app.register(async (bearer: App) => {
    documentScope(bearer, 'bearer')
    await useBearerAuthentication(bearer, keys)
    await registerBearerRoutes(bearer, { config, deps, inference, evaluations, clock })
  })
  await registerKeyHeaderScopes(app, { deps, inference })
  await registerLangfuse(app, deps, toLangfuseOptions(config, deps, version, nowUs))
  await app.register(
    async (missing: App) => {
      await useBasicAuthentication(missing, keys)
      await missing.register(missingRoutes)
    },
    { prefix: '/traces' },
  )

  return app
}

/** Registers the trace API below /traces, with the vendor's names. */
async function registerVendorTraces(
  app: App,
  options: Parameters<typeof registerTraceRoutes>[1],
): Promise<void> {
  await app.register(
    async (traces: App) => {
      useVendorNames(traces)
      await traces.register(healthRoutes, { checkStore: options.deps.checkStore })
      await traces.register(versionRoutes, { version })
      await traces.register(serverInfoRoutes, { version })
      await traces.register(async (basic: App) => {
        await useBasicAuthentication(basic, options.deps.keys)
        await registerTraceRoutes(basic, options)
      })
    },
    { prefix: '/traces' },
  )
}

/**
 * Registers the routes for clients of Anthropic's and Google's APIs, those of the former also below the path that some of
 * them have in their base address.
 */
async function registerKeyHeaderScopes(
  app: App,
  options: Parameters<typeof registerMessageRoutes>[1],
): Promise<void> {
  for (const prefix of ['', '/anthropic']) {
    await app.register(
      async (keyed: App) => {
        if (prefix !== '') hideRoutes(keyed)
        useRequestIdHeader(keyed)
        useKeyHeaderAuthentication(keyed, options.deps.keys)
        await registerMessageRoutes(keyed, options)
        if (prefix === '') await keyed.register(contentRoutes, options.inference)
      },
      { prefix },
    )
  }
}

async function registerLangfuse(
  app: App,
  { keys }: Deps,
  options: ReturnType<typeof toLangfuseOptions>,
): Promise<void> {
  await app.register(
    async (langfuse: App) => {
      await useBasicAuthentication(langfuse, keys)
      await langfuse.register(langfuseRoutes, options)
    },
    { prefix: '/api/public' },
  )
  await app.register(mediaFileRoutes, options)
  await app.register(pageLinkRoutes)
}

/** Registers the hooks that every request passes before the route, and every response after it. */
async function registerHttp(
  app: App,
  { drainTimeoutMs, signIn, dataDir }: Config,
  deps: Deps,
): Promise<void> {
  await app.register(errorHandler)
  await app.register(responseEnd)
  await app.register(noSniffing)
  await app.register(requestLog)
  await app.register(requestWatch, { watch: deps.metrics })
  await app.register(drain, { drainTimeoutMs })
  await app.register(unsupportedRequests, { watch: deps.metrics })
  await app.register(sameOriginForms)
  const { findPrincipal } = deps.people
  if (signIn !== null) await app.register(sessions, { signIn, dataDir, findPrincipal })
  await app.register(unreadBody)
  await app.register(contentEncoding)
  await app.register(jsonBody)
  await app.register(validation)
  await app.register(unknownProject, { hasProject: (name) => deps.projects.hasProject(name) })
  await app.register(openapi, { version })
}

function toHttpOptions({ requestTimeoutMs }: Config) {
  return {
    // Missing ones are refused with the other odd requests.
    requireHostHeader: false,
    // By default Node checks for late requests every 30 s.
    connectionsCheckingInterval: 1_000,
    // Node swaps the limits when that of the headers is longer: the whole request would get this one.
    headersTimeout: Math.min(HEADERS_MS_MAX, requestTimeoutMs),
  }
}

function toEvaluationOptions(
  { refScheme, metaUrl }: Config,
  stores: Deps,
  inference: Inference,
  nowUs: Clock['nowUs'],
) {
  return { stores, inference, refScheme, isShared: metaUrl !== null, nowUs }
}

function toInferenceOptions(config: Config, deps: Deps, nowUs: Clock['nowUs']) {
  return {
    ...deps,
    trained: deps.previewModels,
    completionsMax: config.chatQueueMax,
    keyCompletionsMax: config.keyCompletionsMax,
    keyRequestsPerMinute: config.keyRequestsPerMinute,
    keyTokensPerMinute: config.keyTokensPerMinute,
    cacheBytesMax: config.cacheBytesMax,
    watch: deps.metrics,
    refScheme: config.refScheme,
    webhookHosts: config.webhookHosts,
    nowUs,
  }
}

function toMcpOptions(config: Config, deps: Deps, nowUs: Clock['nowUs']) {
  const { callsQuery, feedback, objects, prices, stats, tables } = deps
  const { bodyBytesMax, feedbackPayloadBytesMax: payloadBytesMax, refScheme } = config
  const stores = { callsQuery, feedback, objects, prices, stats, tables }
  return { ...stores, bodyBytesMax, payloadBytesMax, refScheme, version, nowUs }
}

function toRunnerOptions(
  { refScheme, feedbackPayloadBytesMax: payloadBytesMax, metaUrl }: Config,
  deps: Deps,
  { scorers }: Inference,
  nowUs: Clock['nowUs'],
) {
  return { stores: deps, scorers, refScheme, payloadBytesMax, isShared: metaUrl !== null, nowUs }
}
