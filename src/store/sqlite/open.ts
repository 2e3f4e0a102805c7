/** Opens the SQLite stores: a reading connection here, one in the writer thread, and those of the reader threads. */
import { join } from 'node:path'
import type { CallsQueryStore } from '../api/calls/calls.ts'
import type { MissingFiles } from '../api/health.ts'
import type { StoreObserver } from '../api/metrics.ts'
import { closeOnce } from '../api/stores.ts'
import { createAuditStore } from '../base/access/audit-store.ts'
import { createBudgetStore } from '../base/access/budget-store.ts'
import { createKeyStore } from '../base/access/key-store.ts'
import { createPasswordStore } from '../base/access/password-store.ts'
import { createPersonStore } from '../base/access/person-store.ts'
import { createAlertStore } from '../base/alerts/alert-store.ts'
import { createExportTicketStore } from '../base/calls/export-ticket-store.ts'
import { createCompletionCacheStore } from '../base/chat/completion-cache-store.ts'
import { createResponseStore } from '../base/chat/response-store.ts'
import type { OnMigrate } from '../base/db/migration-files.ts'
import { createEvaluationJobStore } from '../base/evaluations/evaluation-job-store.ts'
import { createEvaluatorStore } from '../base/evaluators/evaluator-store.ts'
import { createServedAliasStore } from '../base/models/served-alias-store.ts'
import type { NodeStores } from '../base/node-stores.ts'
import { createArrivals, createRecordings } from '../base/recordings/recordings.ts'
import { createAgentStore } from './agents/agents.ts'
import { createAnnotationStore } from './annotation/annotation-queues.ts'
import { createCallFeed } from './calls/call-feed.ts'
import { createCallStore } from './calls/calls.ts'
import { createCallsQueryStore } from './calls/query/calls-query.ts'
import { createJoinReader } from './calls/query/join-reader.ts'
import { createCallRemoval } from './calls/removal/call-removal.ts'
import {
  type Connection,
  DATABASE_FILE,
  openDatabase,
  openReadOnlyDatabase,
  unusableDirectory,
} from './db/connection.ts'
import { migrate, requireMigrated } from './db/migrate.ts'
import { isUnavailable } from './db/store-error.ts'
import { createWalGateMemory } from './db/wal-gate.ts'
import { createFeedbackStore } from './feedback/feedback.ts'
import {
  ARTIFACTS_DIRECTORY,
  FILES_DIRECTORY,
  openFileFolder,
  PAYLOADS_DIRECTORY,
} from './files/file-folder.ts'
import { createFilePins, type FilePins } from './files/file-pins.ts'
import { createMemoryFolder } from './files/memory-folder.ts'
import { createSweep } from './files/sweep.ts'
import { createStoreHealth } from './health/store-health.ts'
import { createStoreMetricsSource } from './health/store-metrics.ts'
import { createCheckpointArtifacts } from './models/checkpoint-artifacts.ts'
import { createFileStore } from './objects/files.ts'
import { createObjectStore } from './objects/objects.ts'
import { createTableStore } from './objects/tables.ts'
import { createPriceStore } from './prices/prices.ts'
import { createProjectStores } from './projects/projects.ts'
import { openReadLanes, type ReadLimits } from './read/read-lanes.ts'
import { createSegmentBuilder, type SegmentBuilder } from './stats/segments/build/builder.ts'
import { createStatsStore } from './stats/stats-store.ts'
import { createTrainingStores } from './training/training-stores.ts'
import { createUsageStore } from './usage/usage-store.ts'
import { createStepRuns } from './write/step-runs.ts'
import { createWalCheckpointer } from './write/wal-checkpointer.ts'
import { createWriter, openInlineWrites, openWriterThread, type Writer } from './write/writer.ts'

export interface SqliteOptions {
  /** A directory, or ':memory:'. */
  readonly dataDir: string
  /** False beside the process that owns the directory: refuses an older database. Default: true. */
  readonly mayMigrate?: boolean
  /** Writes that may wait for a commit. */
  readonly ingestQueueMax: number
  /** Limits of heavy reads. */
  readonly reads?: ReadLimits
  /** Bytes of writes that may wait; default 256 MiB. */
  readonly ingestQueueBytesMax?: number
  /** How long a close of the writer may take for waiting writes; default 8 s. */
  readonly closeMs?: number
  readonly onMigrate?: OnMigrate
  /** Observes commits and reads. Default: none. */
  readonly watch?: StoreObserver
  /** The entry module of the writer; tests pass their own. */
  readonly writerEntry?: URL
  /** Limit: calls in one segment of an hour's statistics. */
  readonly segmentRowsMax?: number
}

const CLOSE_MS_MAX = 8_000
const INGEST_QUEUE_BYTES_MAX = 256 * 1024 * 1024

export interface SqliteStore extends NodeStores {
  /**
   * Removes files that no row names, left by a crash. Only for the server, before it accepts requests.
   *
   * @returns counts of missing files that rows name
   */
  sweep(): Promise<MissingFiles>
  /** The functions that a backup calls in the process that owns the directory. */
  readonly backup: BackupParts
  /** Builds the segments that make statistics fast. */
  readonly segments: Pick<SegmentBuilder, 'buildAll'>
}

export interface BackupParts {
  readonly copyDatabase: Writer['copyTo']
  readonly pinFiles: FilePins['begin']
}

/** Opens all stores; the caller holds the lock of the directory. @throws DataDirectoryError, MigrationError */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const { dataDir, segmentRowsMax } = options
  const db = openMigrated(options)
  const hold = createFilePins()
  const { payloads, folder, weights } = openFolders(db, dataDir, hold)
  const path = dataDir === ':memory:' ? null : join(dataDir, DATABASE_FILE)
  const gate = createWalGateMemory()
  const lanes = openReadLanes({ db, path, limits: options.reads, gate, watch: options.watch })
  const { lists, stats, build } = lanes
  const { writes, closeWrites } = openWrites(db, gate, options)
  const arrivals = createArrivals()
  const recordings = createRecordings(
    (calls) => writes.run('record_calls', calls, { isUnacknowledged: true }),
    arrivals,
  )
  const isAutomatic = path !== null
  const segments = createSegmentBuilder({ db, writes, reads: build, isAutomatic, segmentRowsMax })
  const artifacts = createCheckpointArtifacts(db, weights)
  const sweep = createSweep(db, { payloads, folder, artifacts })
  let missing: MissingFiles = { files: 0, training_payloads: 0, artifacts: 0 }
  const write = () => writes.run('prove_writable', null)
  const health = createStoreHealth({ path, write, folder, missing: () => missing })
  const callsQuery = createCallsQueryStore(db, lists, arrivals)
  const annotationOf = (calls: CallsQueryStore) =>
    createAnnotationStore({ db, writes, reads: lists }, calls)
  return {
    ...createSharedStores(db, writes),
    passwords: createPasswordStore(createStepRuns(db, writes)),
    calls: createCallStore(db, writes, arrivals),
    removal: createCallRemoval(writes),
    recordings,
    callsQuery,
    threads: { listThreads: (listing, caller) => lists.run('threads', listing, caller) },
    agents: createAgentStore(lists),
    stats: createStatsStore(writes, stats),
    usage: createUsageStore(stats),
    feedback: createFeedbackStore(db, writes, lists),
    annotation: annotationOf(callsQuery),
    objects: createObjectStore(db, writes, lists),
    tables: createTableStore(db, writes, lists),
    files: createFileStore(db, writes, folder),
    ...createProjectStores(db, writes, lists),
    callFeed: createCallFeed(db),
    prices: createPriceStore(db, writes),
    ...createTrainingStores(db, writes, { payloads, artifacts }),
    async sweep() {
      missing = await sweep()
      return missing
    },
    checkStore: health.checkStore,
    backupFault: () => null,
    ...createStoreMetricsSource({ db, path, writes, lanes, recordings }),
    joinedDataOf: (selection) => createJoinReader(db, lists, selection),
    annotationOf,
    arrivals,
    segments,
    backup: { copyDatabase: writes.copyTo, pinFiles: hold.begin },
    close: closeOnce(async () => {
      await segments.close()
      await Promise.all([lists.close(), stats.close()])
      health.close()
      const flushed = recordings.flush()
      await closeWrites()
      await flushed
    }),
  }
}

/** The stores that differ in nothing from those of PostgreSQL but how they run. */
function createSharedStores(db: Connection, writes: Writer) {
  return {
    audit: createAuditStore(createStepRuns(db, writes)),
    keys: createKeyStore(createStepRuns(db, writes)),
    people: createPersonStore(createStepRuns(db, writes)),
    budgets: createBudgetStore(createStepRuns(db, writes)),
    alerts: createAlertStore(createStepRuns(db, writes)),
    evaluationJobs: createEvaluationJobStore(createStepRuns(db, writes)),
    evaluators: createEvaluatorStore(createStepRuns(db, writes)),
    servedAliases: createServedAliasStore(createStepRuns(db, writes)),
    responses: createResponseStore(createStepRuns(db, writes)),
    completionCache: createCompletionCacheStore(createStepRuns(db, writes)),
    exportTickets: createExportTicketStore(createStepRuns(db, writes)),
  }
}

/** Opens the folders before any thread starts; if one cannot be used, closes the database. @throws DataDirectoryError */
function openFolders(db: Connection, dataDir: string, hold: FilePins) {
  const isInMemory = dataDir === ':memory:'
  const open = (directory: string) =>
    hold.over(isInMemory ? createMemoryFolder(directory) : openFileFolder(dataDir, directory))
  try {
    return {
      payloads: open(PAYLOADS_DIRECTORY),
      folder: open(FILES_DIRECTORY),
      weights: open(ARTIFACTS_DIRECTORY),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens only the keys, for a command. Another process may have the database open, so the command writes through a
 * short-lived connection of its own.
 *
 * @throws DataDirectoryError, MigrationError
 */
export function openSqliteKeys(dataDir: string, mayMigrate: boolean) {
  const db = openWritable({ dataDir, mayMigrate })
  const writer = createWriter({
    queueMax: 1,
    queueBytesMax: 1024 * 1024,
    closeMs: CLOSE_MS_MAX,
    open: (events) => openInlineWrites(db, events),
  })
  const keys = createKeyStore(createStepRuns(db, writer))
  const close = closeOnce(async () => {
    await writer.drain()
    await writer.close()
  })
  return { keys, close }
}

/** A migrated, empty database in memory: opening a copy of its bytes takes 1 ms, all migrations 30 ms. */
let memoryImage: Buffer | null = null

function openInMemory(): Connection {
  const db = openDatabase(':memory:', memoryImage)
  if (memoryImage !== null) return db
  migrate(db)
  memoryImage = db.serialize()
  return db
}

/** Opens the main thread's connection for reads: read-only, or in memory the only connection. */
function openMigrated(options: SqliteOptions): Connection {
  if (options.dataDir === ':memory:') return openInMemory()
  const db = openWritable(options)
  try {
    return openReadOnlyDatabase(join(options.dataDir, DATABASE_FILE))
  } finally {
    db.close()
  }
}

function openWritable({
  dataDir,
  mayMigrate = true,
  onMigrate,
}: Pick<SqliteOptions, 'dataDir' | 'mayMigrate' | 'onMigrate'>): Connection {
  const db = openDatabase(dataDir)
  try {
    if (mayMigrate) migrate(db, undefined, onMigrate)
    else requireMigrated(db)
    return db
  } catch (error) {
    db.close()
    throw isUnavailable(error) ? unusableDirectory(dataDir, error) : error
  }
}

/** @param db - the main thread's connection */
function openWrites(db: Connection, gate: SharedArrayBuffer, options: SqliteOptions) {
  const { dataDir, ingestQueueMax: queueMax } = options
  const path = dataDir === ':memory:' ? null : join(dataDir, DATABASE_FILE)
  const log = createWalCheckpointer({ path, gate })
  const writer = createWriter({
    queueMax,
    queueBytesMax: options.ingestQueueBytesMax ?? INGEST_QUEUE_BYTES_MAX,
    closeMs: options.closeMs ?? CLOSE_MS_MAX,
    onCommit({ writes, ms }) {
      log.noteCommit()
      options.watch?.committed(writes, ms / 1000)
    },
    open: (events) =>
      dataDir === ':memory:'
        ? openInlineWrites(db, events)
        : openWriterThread({ dataDir, gate }, events, options.writerEntry),
  })
  return {
    writes: writer,
    async closeWrites() {
      await writer.drain()
      log.close()
      // The last connection to close removes the log, which only a writing connection can do.
      if (dataDir !== ':memory:') db.close()
      await writer.close()
    },
  }
}
