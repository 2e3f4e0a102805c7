/** The two groups of routes: the trace API, which is served at two addresses, and the routes below /v1. */
import type { Config } from './config.ts'
import type { Deps } from './deps.ts'
import type { Clock } from './domain/time/clock.ts'
import type { App } from './http/app-type.ts'
import { limitQueryBodies } from './http/body/json-body.ts'
import { auditRoutes } from './routes/access/audit.ts'
import { budgetRoutes } from './routes/access/budgets.ts'
import { keyRoutes } from './routes/access/keys.ts'
import { personRoutes } from './routes/access/people.ts'
import { agentChatRoutes } from './routes/agents/agent-chat.ts'
import { agentSpanRoutes } from './routes/agents/agent-spans.ts'
import { agentRoutes } from './routes/agents/agents.ts'
import { alertRoutes } from './routes/alerts/alerts.ts'
import { annotationItemRoutes } from './routes/annotation/annotation-items.ts'
import { annotationRoutes } from './routes/annotation/annotation-queues.ts'
import type { LargeBodies } from './routes/bodies/large-bodies.ts'
import { callBatchRoutes } from './routes/calls/call-batches.ts'
import { callTagRoutes } from './routes/calls/call-tags.ts'
import { callRoutes } from './routes/calls/calls.ts'
import { callsQueryRoutes } from './routes/calls/calls-query.ts'
import { evalResultsRoutes } from './routes/calls/eval-results.ts'
import { evaluationCallRoutes } from './routes/calls/evaluation-calls.ts'
import { completionCreateRoutes } from './routes/chat/completion-create.ts'
import { type Inference, inferenceRoutes } from './routes/chat/inference.ts'
import { messageRoutes } from './routes/chat/messages.ts'
import {
  type ServerEvaluations,
  serverEvaluationRoutes,
} from './routes/evaluations/server-evaluations.ts'
import { backfillRoutes } from './routes/evaluators/backfills.ts'
import { evaluatorRoutes } from './routes/evaluators/evaluators.ts'
import { judgeTrialRoutes } from './routes/evaluators/judge-trials.ts'
import { monitorRoutes } from './routes/evaluators/monitors.ts'
import { agreementRoutes } from './routes/feedback/agreement.ts'
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
import { costRoutes } from './routes/prices/costs.ts'
import { projectRoutes } from './routes/projects/projects.ts'
import { projectSettingsRoutes } from './routes/projects/settings.ts'
import { statsRoutes } from './routes/stats/stats.ts'
import { threadRoutes } from './routes/threads/threads.ts'
import { previewRoutes } from './routes/training/preview.ts'
import { workerRoutes } from './routes/training/worker.ts'
import { usageRoutes } from './routes/usage/usage.ts'

interface GroupOptions {
  readonly config: Config
  readonly deps: Deps
  readonly inference: Inference
  readonly evaluations: ServerEvaluations
  readonly clock: Clock
}

interface TraceGroupOptions extends GroupOptions {
  readonly bodies: LargeBodies
}

/** Registers the trace API, in neutral names; `scope.naming` has the names on the wire. */
export async function registerTraceRoutes(scope: App, options: TraceGroupOptions): Promise<void> {
  const { config, deps, inference } = options
  const { refScheme, bodyBytesMax, retentionDays: defaultDays } = config
  const { audit, calls, callsQuery, threads, agents, stats, usage, feedback, annotation } = deps
  const { prices, objects, tables, files, projects, retention, redactions } = deps
  const { nowUs } = options.clock
  const { bodies } = options
  limitQueryBodies(scope, bodyBytesMax)
  const tagged = { audit, calls, feedback, nowUs, refScheme }
  await scope.register(callRoutes, { ...tagged, prices, usage, bodies })
  await scope.register(callTagRoutes, tagged)
  await scope.register(callBatchRoutes, { calls, bodies })
  await scope.register(callsQueryRoutes, toCallLinesOptions(config, deps))
  await scope.register(threadRoutes, { threads })
  await scope.register(agentRoutes, { agents, prices })
  await scope.register(agentSpanRoutes, { agents, prices })
  await scope.register(agentChatRoutes, { agents, prices, feedback, refScheme })
  await scope.register(statsRoutes, { stats, prices })
  await scope.register(usageRoutes, { usage, prices })
  const { feedbackPayloadBytesMax: payloadBytesMax } = config
  await scope.register(feedbackRoutes, { annotation, feedback, payloadBytesMax, nowUs })
  await scope.register(feedbackQueryRoutes, { audit, feedback })
  await scope.register(agreementRoutes, { stores: { annotation, feedback }, refScheme })
  await scope.register(feedbackStatsRoutes, { feedback, nowUs })
  await scope.register(annotationRoutes, {
    audit,
    annotation,
    callFeed: deps.callFeed,
    evaluators: deps.evaluators,
    nowUs,
    refScheme,
  })
  await scope.register(annotationItemRoutes, { annotation, nowUs })
  await scope.register(costRoutes, { audit, prices, stats, nowUs })
  await scope.register(objectRoutes, { audit, objects, bodies, nowUs })
  await scope.register(objectMarkRoutes, { objects })
  await scope.register(tableRoutes, { tables, bodies })
  await scope.register(fileRoutes, { files, fileBytesMax: bodyBytesMax })
  await scope.register(refRoutes, { objects, tables })
  await scope.register(projectRoutes, { projects, callsQuery, files })
  await scope.register(evaluationCallRoutes, { ...tagged, callsQuery })
  await scope.register(evalResultsRoutes, {
    callsQuery,
    feedback,
    prices,
    objects,
    tables,
    refScheme,
  })
  await scope.register(serverEvaluationRoutes, { evaluations: options.evaluations })
  await scope.register(objectKindRoutes, { audit, objects, tables, files, nowUs, refScheme })
  await scope.register(completionCreateRoutes, { inference, objects, tables })
  const { evaluators, callFeed } = deps
  const { scorers } = inference
  const evaluating = { evaluators, callFeed, objects, scorers, nowUs, refScheme }
  await scope.register(evaluatorRoutes, evaluating)
  const rated = { annotation, feedback, callsQuery, prices }
  await scope.register(judgeTrialRoutes, { ...evaluating, stores: rated })
  await scope.register(monitorRoutes, { ...evaluating, evaluations: options.evaluations })
  await scope.register(backfillRoutes, { ...evaluating, callsQuery, prices })
  await scope.register(projectSettingsRoutes, { retention, redactions, defaultDays })
}

/** Registers the routes below /v1. */
export async function registerBearerRoutes(bearer: App, options: GroupOptions): Promise<void> {
  const { config, deps, inference, clock } = options
  const { bodyBytesMax, trainingBodyBytesMax, artifactBytesMax, dataDir, refScheme } = config
  const { audit, models, responses, responseCancels } = deps
  const { keys, checkpoints, trainingJobs: jobs } = deps
  const { callsQuery, prices, feedback, previewModels, trainingQueue: queue } = deps
  const { nowUs } = clock
  const stored = { audit, inference, responses, responseCancels }
  await bearer.register(inferenceRoutes, { ...stored, bodyBytesMax, nowUs })
  await bearer.register(backendRoutes, { models, latencies: inference.run.latencies })
  await bearer.register(auditRoutes, { audit })
  await bearer.register(keyRoutes, { keys, nowUs })
  await bearer.register(personRoutes, {
    people: deps.people,
    passwords: deps.passwords,
    signIn: config.signIn,
    nowUs,
  })
  await bearer.register(budgetRoutes, { budgets: deps.budgets, keys, nowUs })
  await bearer.register(alertRoutes, {
    alerts: deps.alerts,
    webhooks: deps.webhooks,
    webhookHosts: config.webhookHosts,
    nowUs,
  })
  await bearer.register(previewRoutes, {
    audit,
    models: previewModels,
    jobs,
    checkpoints,
    callsQuery,
    prices,
    feedback,
    evaluators: deps.evaluators,
    evaluations: options.evaluations,
    servedAliases: deps.servedAliases,
    choice: inference.choice,
    registry: models,
    refScheme,
    trainingBodyBytesMax,
    dataDir,
    nowUs,
  })
  await bearer.register(workerRoutes, {
    queue,
    jobs,
    checkpoints,
    findPrincipal: keys.findPrincipal,
    settings: config.training,
    artifactBytesMax,
    clock,
    nowUs,
  })
}

/** Registers the routes that clients of Anthropic's API use, below `/v1` of any prefix. */
export async function registerMessageRoutes(
  keyed: App,
  { deps, inference }: Pick<GroupOptions, 'deps' | 'inference'>,
): Promise<void> {
  const { choice, run } = inference
  await keyed.register(messageRoutes, { choice, run })
  await keyed.register(modelRoutes, { models: deps.models, choice })
}

/** What routes need that send calls as lines. */
export function toCallLinesOptions({ refScheme }: Config, deps: Deps) {
  const { callsQuery, prices, feedback, objects, tables, usage } = deps
  return { callsQuery, prices, feedback, objects, tables, usage, refScheme }
}

export function toSpanIntakeOptions(config: Config, deps: Deps, nowUs: Clock['nowUs']) {
  return {
    calls: deps.spanCalls,
    feedback: deps.feedback,
    reader: deps.traceReader,
    nowUs,
    refScheme: config.refScheme,
    feedbackPayloadBytesMax: config.feedbackPayloadBytesMax,
    host: config.host,
    otlpGrpcPort: config.otlpGrpcPort,
    otlpBodyBytesMax: config.otlpBodyBytesMax,
    requestTimeoutMs: config.requestTimeoutMs,
    keys: deps.keys,
    watch: deps.metrics,
    onStored: deps.metrics.spansStored,
  }
}

export function toLangfuseOptions(
  config: Config,
  stores: Deps,
  version: string,
  nowUs: Clock['nowUs'],
) {
  const { refScheme, feedbackPayloadBytesMax: payloadBytesMax, bodyBytesMax: fileBytesMax } = config
  return { ...stores, refScheme, payloadBytesMax, fileBytesMax, version, nowUs }
}
