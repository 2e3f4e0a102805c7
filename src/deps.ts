/** The composition root: opens the stores and backends that the settings ask for. */
import { type Config, ConfigError, readSecret, SHUTDOWN_MS_MAX } from './config.ts'
import type { InferenceBackend } from './inference/backend.ts'
import { createLazyBackend } from './inference/models/lazy-backend.ts'
import { type ModelRegistry, openModelRegistry } from './inference/models/registry.ts'
import {
  createReloadableRegistry,
  type ReloadableRegistry,
} from './inference/models/reloadable-registry.ts'
import { createTinyBackend } from './inference/tiny/backend.ts'
import { resolveTinyFields } from './inference/tiny/field-support.ts'
import { createTraceReader, type TraceReader } from './otel/span-reader.ts'
import type { CallStore } from './store/api/calls.ts'
import type { CallsQueryStore } from './store/api/calls-query.ts'
import type { CheckpointStore } from './store/api/checkpoints.ts'
import type { FeedbackStore } from './store/api/feedback.ts'
import type { FileStore } from './store/api/files.ts'
import type { StoreHealth } from './store/api/health.ts'
import type { KeyStore } from './store/api/keys.ts'
import type { ObjectStore } from './store/api/objects.ts'
import type { PreviewModelStore } from './store/api/preview-models.ts'
import type { PriceStore } from './store/api/prices.ts'
import type { RecordingStore } from './store/api/recordings.ts'
import type { ResponseStore } from './store/api/responses.ts'
import type { StatsStore } from './store/api/stats.ts'
import type { TableStore } from './store/api/tables.ts'
import type { TrainingJobStore } from './store/api/training-jobs.ts'
import type { TrainingQueue } from './store/api/training-queue.ts'
import type { UsageStore } from './store/api/usage.ts'
import { lockDataDirectory } from './store/sqlite/db/directory-lock.ts'
import { openSqliteStore } from './store/sqlite/open.ts'

/**
 * Part of the time of a shutdown that belongs neither to the drain nor to the writer: the trainer gives its job back
 * (0.8 s), and requests that were aborted write their last words (1.5 s).
 */
const CLOSE_REST_MS = 2_500

/** What the app stands on. The opener closes it. */
export interface Deps {
  readonly keys: KeyStore
  readonly models: ModelRegistry
  /**
   * Reads the models file anew.
   *
   * @throws ModelsFileError; the models then stay as they were
   */
  reloadModels(): void
  readonly calls: CallStore
  readonly recordings: RecordingStore
  readonly callsQuery: CallsQueryStore
  readonly stats: StatsStore
  readonly usage: UsageStore
  /** What tokens cost. */
  readonly prices: PriceStore
  readonly feedback: FeedbackStore
  readonly objects: ObjectStore
  readonly tables: TableStore
  readonly files: FileStore
  readonly previewModels: PreviewModelStore
  readonly trainingJobs: TrainingJobStore
  readonly trainingQueue: TrainingQueue
  readonly checkpoints: CheckpointStore
  /** Responses that are kept. */
  readonly responses: ResponseStore
  /** Reads OpenTelemetry exports. */
  readonly traceReader: TraceReader
  /** How the stores are; what fails makes `/ready` answer 503. */
  readonly checkStore: StoreHealth['checkStore']
  /** Writes what waits, then closes in reverse order. */
  close(): Promise<void>
}

/**
 * Opens everything, migrations included. Nothing in the data directory is read before its lock is held, and the lock
 * is the last thing to go.
 *
 * @throws ConfigError, ModelsFileError, DirectoryLockedError, DataDirectoryError, MigrationError
 */
export async function openDeps(config: Config): Promise<Deps> {
  const lock = lockDataDirectory(config.dataDir)
  try {
    const deps = await openLocked(config)
    const close = async () => {
      try {
        await deps.close()
      } finally {
        lock.release()
      }
    }
    return { ...deps, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openLocked(config: Config): Promise<Deps> {
  // First, since it holds nothing open yet when a later step fails.
  const models = openModels(config, await openTiny(config))
  const store = openSqliteStore({
    dataDir: config.dataDir,
    bootstrapKey: config.bootstrapKey,
    ingestQueueMax: config.ingestQueueMax,
    ingestQueueBytesMax: config.ingestQueueBytesMax,
    // What the requests leave of it, less a rest for all others that close.
    closeMs: SHUTDOWN_MS_MAX - config.drainTimeoutMs - CLOSE_REST_MS,
    reads: {
      threads: config.readThreads,
      statsThreads: config.statsThreads,
      queueMax: config.readQueueMax,
      timeoutMs: config.readTimeoutMs,
    },
  })
  await store.sweep()
  const traceReader = createTraceReader()
  return {
    keys: store.keys,
    models,
    reloadModels: models.reload,
    calls: store.calls,
    recordings: store.recordings,
    callsQuery: store.callsQuery,
    stats: store.stats,
    usage: store.usage,
    prices: store.prices,
    feedback: store.feedback,
    objects: store.objects,
    tables: store.tables,
    files: store.files,
    previewModels: store.previewModels,
    trainingJobs: store.trainingJobs,
    trainingQueue: store.trainingQueue,
    checkpoints: store.checkpoints,
    responses: store.responses,
    traceReader,
    checkStore: store.checkStore,
    async close() {
      await models.close()
      await traceReader.close()
      await store.segments.close()
      await store.reads.close()
      await store.close()
    },
  }
}

function openModels(config: Config, tiny: InferenceBackend): ReloadableRegistry {
  const open = () =>
    openModelRegistry({
      path: config.modelsFile,
      isRequired: config.modelsFileRequired,
      readSecret,
      proxies: config.proxies,
      createTiny: () => tiny,
    })
  return createReloadableRegistry(open, tiny)
}

/** The built-in model opens with the first completion; a file of the user's at once, to tell what is wrong. */
async function openTiny(config: Config): Promise<InferenceBackend> {
  const { chatQueueMax: queueMax, tinyChatTemplates: allowsChatTemplate, tinyModel } = config
  const options = { name: 'tiny', queueMax, allowsChatTemplate }
  if (tinyModel === null) {
    const fields = resolveTinyFields({ allowsChatTemplate })
    return createLazyBackend({
      kind: 'tiny',
      fields,
      ignoresUnknown: true,
      takesAdapters: true,
      open: () => createTinyBackend(options),
    })
  }
  const backend = createTinyBackend({ ...options, modelPath: tinyModel })
  try {
    await backend.ready()
    return backend
  } catch (cause) {
    await backend.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`WEFT_TINY_MODEL ${tinyModel} cannot be used: ${reason}`)
  }
}
