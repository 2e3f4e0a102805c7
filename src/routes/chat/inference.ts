/** The routes of models, which share the choice of models, one queue, the limits of keys and the recording of calls. */
import { requireScope } from '../../domain/access/permissions.ts'
import type { Clock } from '../../domain/time/clock.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import { createAdmission } from '../../inference/chat/admission.ts'
import { createBudgetAccounts } from '../../inference/chat/budgets/budget-accounts.ts'
import { createSpending } from '../../inference/chat/budgets/spending.ts'
import { createCompletionCache } from '../../inference/chat/cache/completion-cache.ts'
import type { CompletionRunOptions } from '../../inference/chat/completion-run.ts'
import { createKeyLimits } from '../../inference/chat/key-limits.ts'
import { createCompletionRecorder } from '../../inference/chat/record/completion-recorder.ts'
import {
  type CompletionWatch,
  createModelLatencies,
} from '../../inference/chat/track-completion.ts'
import { createModelChoice, type ModelChoice } from '../../inference/models/model-choice.ts'
import type { ModelRegistry } from '../../inference/models/registry.ts'
import { createScorers, type Scorers } from '../../inference/scorers/scorers.ts'
import { createWebhooks } from '../../outbound/webhooks.ts'
import type { RecordingStore } from '../../store/api/chat/recordings.ts'
import type { CheckpointStore, PreviewModelStore } from '../../store/api/models/checkpoints.ts'
import type { Stores } from '../../store/api/stores.ts'
import { missingRoutes } from '../access/missing.ts'
import type { MissingFeature } from '../access/missing-endpoints.ts'
import { chatRoutes } from './chat.ts'
import { dryRunRoutes } from './dry-run.ts'
import { fileServiceRoutes } from './file-services.ts'
import { responseRoutes } from './responses.ts'
import { createRunningResponses } from './running-responses.ts'
import { serviceRoutes } from './services.ts'
import { storedResponseRoutes } from './stored-responses.ts'

/** An addition to the spec, which has none of these addresses. */
const MISSING_RESPONSE_FEATURES: readonly MissingFeature[] = [
  {
    feature: 'counts of the input tokens of responses',
    reason: 'A response has them in its usage; /v1/tokenize counts the tokens of texts and chats.',
    endpoints: ['POST /v1/responses/input_tokens'],
  },
  {
    feature: 'compaction of responses',
    reason: 'Send a shorter input instead, without previous_response_id.',
    endpoints: ['POST /v1/responses/compact'],
  },
]

interface InferenceOptions {
  readonly models: ModelRegistry
  /** Models that were trained here, and their checkpoints. */
  readonly trained: PreviewModelStore
  readonly checkpoints: CheckpointStore
  readonly servedAliases: Stores['servedAliases']
  /** Completions that may run or wait at once. */
  readonly completionsMax: number
  /** Limits of a key without its own; null: none. */
  readonly keyCompletionsMax: number | null
  readonly keyRequestsPerMinute: number | null
  readonly keyTokensPerMinute: number | null
  /** Records the completions that name a project. */
  readonly recordings: RecordingStore
  readonly budgets: Stores['budgets']
  readonly prices: Stores['prices']
  readonly completionCache: Stores['completionCache']
  /** Limit: bytes of all cached completions. */
  readonly cacheBytesMax: number
  /** Called for every completion, and for those that could not be recorded. */
  readonly watch: CompletionWatch & { recordingsLost(count: number): void }
  /** URI scheme of the refs to find in requests and answers. */
  readonly refScheme: string
  /** Hosts of private networks that webhooks may be sent to; `*`: all. */
  readonly webhookHosts: readonly string[]
  readonly nowUs: Clock['nowUs']
}

/** What all routes of models share. */
export interface Inference {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
  /** Scorers of evaluators and evaluations; judges are completions of `run`. */
  readonly scorers: Scorers
}

/** Opens it; waiting recordings are handed over when the app closes. */
export function openInference(app: App, options: InferenceOptions): Inference {
  const { models, trained, checkpoints, completionsMax, keyCompletionsMax } = options
  const { recordings, refScheme, nowUs, watch } = options
  const { servedAliases } = options
  const choice = createModelChoice({ registry: models, trained, checkpoints, servedAliases })
  const admission = createAdmission({ placesMax: completionsMax })
  const limits = createKeyLimits({
    requestsPerMinute: options.keyRequestsPerMinute,
    tokensPerMinute: options.keyTokensPerMinute,
    nowMs: () => performance.now(),
  })
  const recorder = createCompletionRecorder({
    recordings,
    refScheme,
    nowUs,
    newId,
    onLoss({ count, error }) {
      watch.recordingsLost(count)
      app.log.error({ err: error, count }, 'completions not recorded')
    },
  })
  app.addHook('onClose', recorder.close)
  const accounts = createBudgetAccounts({
    store: options.budgets,
    nowUs,
    nowMs: () => performance.now(),
    newId,
    onFailure: (error) => app.log.error({ err: error }, 'budgets not settled'),
  })
  app.addHook('onClose', accounts.close)
  const spending = createSpending({
    budgets: options.budgets,
    prices: options.prices,
    accounts,
    nowUs,
  })
  const cache = createCompletionCache({
    store: options.completionCache,
    bytesMax: options.cacheBytesMax,
    nowUs,
    onFailure: (error) => app.log.error({ err: error }, 'cache of completions failed'),
  })
  app.addHook('onClose', cache.close)
  const latencies = createModelLatencies(Date.now)
  const run = {
    models,
    admission,
    limits,
    spending,
    cache,
    keyCompletionsMax,
    recorder,
    latencies,
    watch,
    nowUs,
  }
  const webhooks = createWebhooks(options.webhookHosts)
  const scorers = createScorers({ choice, run, prices: options.prices, webhooks, newId })
  app.addHook('onClose', scorers.close)
  return { choice, run, scorers }
}

interface InferenceRoutesOptions
  extends Pick<Stores, 'audit' | 'responses' | 'responseCancels'>,
    Pick<Clock, 'nowUs'> {
  readonly inference: Inference
  /** Limit: bytes of a form with its files. */
  readonly bodyBytesMax: number
}

export async function inferenceRoutes(app: App, options: InferenceRoutesOptions): Promise<void> {
  const { audit, responses, responseCancels, bodyBytesMax, nowUs } = options
  const { choice, run } = options.inference
  app.addHook('onRequest', (request, _reply, done) => {
    requireScope(request.principal, 'inference')
    done()
  })

  await app.register(chatRoutes, { choice, run })
  await app.register(dryRunRoutes, { choice, run })
  await app.register(serviceRoutes, { choice, run })
  await app.register(fileServiceRoutes, { choice, run, bodyBytesMax })
  const running = createRunningResponses(app, { responseCancels, nowUs })
  await app.register(responseRoutes, { choice, run, responses, running, nowUs })
  await app.register(storedResponseRoutes, { audit, responses, running })
  await app.register(missingRoutes, { features: MISSING_RESPONSE_FEATURES })
}
