/** The composition root: opens the stores and backends that the settings ask for. */
import { type Config, ConfigError, readSecret, SHUTDOWN_MS_MAX } from './config.ts'
import { createServerKeys, type ServerKeys } from './http/server-keys.ts'
import type { InferenceBackend } from './inference/backend.ts'
import { createLazyBackend } from './inference/models/lazy-backend.ts'
import {
  createReloadableRegistry,
  type ModelRegistry,
  openModelRegistry,
  type ReloadableRegistry,
} from './inference/models/registry.ts'
import { createTinyBackend } from './inference/tiny/backend.ts'
import { describeTiny } from './inference/tiny/description.ts'
import { countCalls, countJobs } from './metrics/counted-stores.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { createTraceReader, optionsOfTraceReader, type TraceReader } from './otel/span-reader.ts'
import { createWebhooks, type Webhooks } from './outbound/webhooks.ts'
import { createRedactingStores } from './redaction/redacting-stores.ts'
import type { KeyStore } from './store/api/access/keys.ts'
import type { CallStore } from './store/api/calls/calls.ts'
import type { StoreObserver } from './store/api/metrics.ts'
import type { ProjectSource } from './store/api/projects/project-source.ts'
import type { Stores } from './store/api/stores.ts'
import type { NodeStores } from './store/base/node-stores.ts'
import { openProjectSource as openSqliteSource } from './store/sqlite/export/project-source.ts'
import type { SqliteStore } from './store/sqlite/open.ts'
import { openSqliteStores } from './store/sqlite/open-locked.ts'

/**
 * The part of the shutdown time used neither by draining nor by the writer: the trainer returns its job (0.8 s), and
 * aborted requests send their final message (1.5 s).
 */
const CLOSE_REST_MS = 2_500

/** The dependencies of the app. Whoever opens them closes them. */
export interface Deps extends Stores {
  /** The store of calls for spans, which are counted by themselves. */
  readonly spanCalls: CallStore
  /** Includes the server's own keys besides the stored ones. */
  readonly keys: KeyStore & Pick<ServerKeys, 'createProcessKey'>
  readonly models: ModelRegistry
  /**
   * Reloads the models file.
   *
   * @throws ModelsFileError; the models are then unchanged
   */
  reloadModels(): void
  /** Reads OpenTelemetry exports. */
  readonly traceReader: TraceReader
  /** Posts to addresses that users name. */
  readonly webhooks: Webhooks
  /** Metrics of the server. */
  readonly metrics: Metrics
}

/** Called before migrations are applied. @param store - whose @param count - of the migrations */
type OnStoreMigrate = (store: 'sqlite' | 'postgres' | 'clickhouse', count: number) => void

/** What observes the stores while they open and work. Nothing of it may throw. */
interface StoreObservers {
  readonly watch?: StoreObserver
  readonly onMigrate?: OnStoreMigrate | undefined
  /** Called when hours of statistics cannot be built in ClickHouse, of a project or of any (null). */
  readonly onBuildFailure?: ((error: unknown, project_id: string | null) => void) | undefined
}

/**
 * Opens everything.
 *
 * @throws ConfigError, ModelsFileError, and what the stores throw
 */
export async function openDeps(
  config: Config,
  observers: Omit<StoreObservers, 'watch'> = {},
): Promise<Deps> {
  const models = openModels(config, await openTiny(config))
  try {
    const metrics = createMetrics()
    const stores = await STORE_OPENERS[config.store](config, { watch: metrics, ...observers })
    const traceReader = createTraceReader(optionsOfTraceReader(config.otlpBodyBytesMax))
    const webhooks = createWebhooks(config.webhookHosts)
    const redacting = createRedactingStores(stores)
    const close = async () => {
      await webhooks.close()
      await models.close()
      await traceReader.close()
      await redacting.close()
      await stores.close()
    }
    const keys = addServerKeys(stores.keys, config.bootstrapKey)
    const counted = {
      calls: countCalls(redacting.calls, metrics),
      recordings: redacting.recordings,
      redactions: redacting.redactions,
      trainingQueue: countJobs(stores.trainingQueue, metrics),
    }
    const { reload: reloadModels } = models
    const own = {
      keys,
      models,
      reloadModels,
      traceReader,
      webhooks,
      metrics,
      spanCalls: redacting.calls,
    }
    return { ...stores, ...counted, ...own, close }
  } catch (error) {
    await models.close()
    throw error
  }
}

function addServerKeys(stored: KeyStore, bootstrapKey: string | null): Deps['keys'] {
  const { createProcessKey, findPrincipal } = createServerKeys(bootstrapKey)
  return {
    ...stored,
    createProcessKey,
    findPrincipal: async (secret) => findPrincipal(secret) ?? stored.findPrincipal(secret),
  }
}

/** How the stores of each kind are opened. */
type OpenStores = (config: Config, observers: StoreObservers) => Promise<Stores>
const STORE_OPENERS: Readonly<Record<Config['store'], OpenStores>> = {
  sqlite: openNodeStores,
  clickhouse: async (config, observers) => {
    const node = await openNodeStores(config, observers)
    const shared = await openShared(node, config, observers.onMigrate)
    return openCallsInClickHouse(shared, config, observers)
  },
}

/**
 * Opens the store shared by several processes, if one is configured. Closing it also closes the node's stores, as does
 * a failure.
 *
 * @throws MigrationError
 */
async function openShared(
  node: SqliteStore,
  config: Config,
  onMigrate?: OnStoreMigrate,
): Promise<NodeStores> {
  if (config.metaUrl === null) return node
  try {
    // Loaded only when configured: most servers run without.
    const { openPostgresStores } = await import('./store/postgres/open.ts')
    return await openPostgresStores(node, {
      url: config.metaUrl,
      reads: {
        slots: config.readThreads + config.statsThreads,
        queueMax: config.readQueueMax,
        waitMsMax: config.readTimeoutMs,
      },
      onMigrate: (count) => onMigrate?.('postgres', count),
    })
  } catch (error) {
    await node.close()
    throw error
  }
}

/**
 * Opens the store of calls that the settings name, in addition to the node's own. Closing it closes both, as does a
 * failure.
 *
 * @throws ConfigError, MigrationError
 */
export async function openCallsInClickHouse(
  node: NodeStores,
  config: Config,
  { onMigrate, onBuildFailure }: StoreObservers = {},
): Promise<Stores> {
  const { clickhouse, ingestQueueMax, ingestQueueBytesMax } = config
  try {
    if (clickhouse === null) throw new ConfigError('WEFT_CLICKHOUSE_URL must be set')
    const { openClickHouseStores } = await import('./store/clickhouse/open.ts')
    return await openClickHouseStores(node, {
      ...clickhouse,
      ingestQueueMax,
      ingestQueueBytesMax,
      closeMs: closeMsOf(config),
      readsMax: config.readThreads + config.statsThreads,
      readQueueMax: config.readQueueMax,
      readTimeoutMs: config.readTimeoutMs,
      onMigrate: (count) => onMigrate?.('clickhouse', count),
      onBuildFailure,
    })
  } catch (error) {
    await node.close()
    throw error
  }
}

/**
 * Opens the stores that the settings name to read a project, also beside running servers. Whoever opens it closes it.
 *
 * @throws ConfigError, DataDirectoryError, MigrationError
 */
export async function openProjectSource(
  config: Pick<Config, 'store' | 'dataDir' | 'metaUrl' | 'clickhouse' | 'readTimeoutMs'>,
  project_id: string,
): Promise<ProjectSource> {
  const { store, dataDir, metaUrl, clickhouse, readTimeoutMs } = config
  if (store === 'sqlite') return openSqliteSource(dataDir, project_id)
  if (clickhouse === null) throw new ConfigError('WEFT_CLICKHOUSE_URL must be set')
  const { openProjectCalls } = await import('./store/clickhouse/export/project-calls.ts')
  const { calls, close } = await openProjectCalls(
    { url: clickhouse.url, readTimeoutMs },
    project_id,
  )
  const openOthers = async (url: string) => {
    const { openOtherRecords } = await import('./store/postgres/export/project-source.ts')
    return openOtherRecords(url, project_id)
  }
  try {
    const others =
      metaUrl === null ? openSqliteSource(dataDir, project_id) : await openOthers(metaUrl)
    return {
      ...others,
      calls,
      async close() {
        await close()
        await others.close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the node's own store. @throws DirectoryLockedError, DataDirectoryError, MigrationError */
export function openNodeStores(
  config: Config,
  { watch, onMigrate }: StoreObservers = {},
): Promise<SqliteStore> {
  return openSqliteStores({
    ...(watch === undefined ? {} : { watch }),
    onMigrate: (count) => onMigrate?.('sqlite', count),
    dataDir: config.dataDir,
    ingestQueueMax: config.ingestQueueMax,
    ingestQueueBytesMax: config.ingestQueueBytesMax,
    closeMs: closeMsOf(config),
    reads: {
      readers: config.readThreads,
      statsReaders: config.statsThreads,
      queueMax: config.readQueueMax,
      timeoutMs: config.readTimeoutMs,
    },
  })
}

/** The shutdown time that remains after draining, minus a reserve for everything else that closes. */
function closeMsOf({ drainTimeoutMs }: Config): number {
  return SHUTDOWN_MS_MAX - drainTimeoutMs - CLOSE_REST_MS
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

/** Opens the built-in model with the first completion, but a user's file at once, to report faults at the start. */
async function openTiny(config: Config): Promise<InferenceBackend> {
  const { chatQueueMax: queueMax, tinyChatTemplates: allowsChatTemplate, tinyModel } = config
  const options = { queueMax, allowsChatTemplate }
  if (tinyModel === null) {
    const open = () => createTinyBackend(options)
    return createLazyBackend({ ...describeTiny(allowsChatTemplate), open })
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
