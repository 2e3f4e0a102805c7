/** Opens the SQLite stores over one connection. */
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import type { CallStore } from '../api/calls.ts'
import type { CallsQueryStore } from '../api/calls-query.ts'
import type { CheckpointStore } from '../api/checkpoints.ts'
import type { FeedbackStore } from '../api/feedback.ts'
import type { FileStore } from '../api/files.ts'
import type { MissingFiles, StoreHealth } from '../api/health.ts'
import type { KeyStore } from '../api/keys.ts'
import type { ObjectStore } from '../api/objects.ts'
import type { PreviewModelStore } from '../api/preview-models.ts'
import type { PriceStore } from '../api/prices.ts'
import type { RecordingStore } from '../api/recordings.ts'
import type { StatsStore } from '../api/stats.ts'
import type { TableStore } from '../api/tables.ts'
import type { TrainingJobStore } from '../api/training-jobs.ts'
import type { TrainingQueue } from '../api/training-queue.ts'
import type { UsageStore } from '../api/usage.ts'
import { createKeyStore } from './access/keys.ts'
import { createCallStore } from './calls/calls.ts'
import { createCallsQueryStore } from './calls/calls-query.ts'
import { type Connection, closeDatabase, DATABASE_FILE, openDatabase } from './db/connection.ts'
import { ARTIFACTS_DIRECTORY, FILES_DIRECTORY, openFileFolder } from './db/file-folder.ts'
import { migrate, requireMigrated } from './db/migrate.ts'
import { createStoreHealth } from './db/store-health.ts'
import { createSweep } from './db/sweep.ts'
import { createFeedbackStore } from './feedback/feedback.ts'
import { createCheckpointArtifacts } from './models/checkpoint-artifacts.ts'
import { createCheckpointStore } from './models/checkpoints.ts'
import { createPreviewModelStore } from './models/preview-models.ts'
import { createFileStore } from './objects/files.ts'
import { createObjectStore } from './objects/objects.ts'
import { createTableStore } from './objects/tables.ts'
import { createPriceStore } from './prices/prices.ts'
import { READ_JOBS } from './read/read-jobs.ts'
import { createInlineReadPool, createReadPool, type ReadPool } from './read/read-pool.ts'
import { createRecordings } from './recordings/recordings.ts'
import { createHourMarks } from './stats/hour-marks.ts'
import { createSegmentBuilder, type SegmentBuilder } from './stats/segments/builder.ts'
import { createStatsStore } from './stats/stats.ts'
import { createJobMoves } from './training/job-moves.ts'
import { createTrainingJobStore } from './training/training-jobs.ts'
import { createTrainingPayloads } from './training/training-payloads.ts'
import { createTrainingQueue } from './training/training-queue.ts'
import { createUsageStore } from './usage/usage.ts'
import { createCallWrites, WRITES_BEFORE_THREAD } from './write/call-writes.ts'
import { createGroupCommit } from './write/group-commit.ts'
import { createWalThread } from './write/wal-thread.ts'
import { createWriteJobs } from './write/write-jobs.ts'
import { createWriteThread } from './write/write-thread.ts'

export interface SqliteOptions {
  /** A directory, or ':memory:'. */
  readonly dataDir: string
  readonly bootstrapKey: string | null
  /** False beside the process that owns the directory: an older database is then refused. Default: true. */
  readonly mayMigrate?: boolean
  /** Writes that may wait for a commit. */
  readonly ingestQueueMax: number
  /** Limits of the heavy reads. */
  readonly reads?: ReadLimits
  /** Writes of calls before they get a thread; a database in memory never has one. */
  readonly writesBeforeThread?: number
}

export interface ReadLimits {
  readonly threads: number
  readonly queueMax: number
  readonly timeoutMs: number
  /** Threads that stay when there is nothing to do; default 1. */
  readonly threadsKept?: number
  /** Of the threads, as of lowerThreadPriority; default: as all others. */
  readonly niceness?: number
}

const READ_LIMITS: ReadLimits = { threads: 1, queueMax: 16, timeoutMs: 60_000 }
/** One hour at a time; the largest takes seconds, for which nobody waits. */
const BUILD_LIMITS: ReadLimits = {
  ...{ threads: 1, queueMax: 1, timeoutMs: 600_000, threadsKept: 0, niceness: 15 },
}

export interface SqliteStore extends StoreHealth {
  readonly keys: KeyStore
  readonly calls: CallStore
  readonly recordings: RecordingStore
  readonly callsQuery: CallsQueryStore
  readonly stats: StatsStore
  readonly usage: UsageStore
  readonly feedback: FeedbackStore
  readonly objects: ObjectStore
  readonly tables: TableStore
  readonly files: FileStore
  readonly prices: PriceStore
  readonly previewModels: PreviewModelStore
  readonly trainingJobs: TrainingJobStore
  readonly trainingQueue: TrainingQueue
  readonly checkpoints: CheckpointStore
  /**
   * Removes files that no row names, left by a crash. Only for the process that serves, before it does.
   *
   * @returns files that rows name and that are gone
   */
  sweep(): Promise<MissingFiles>
  /** Heavy reads; to be closed before the store. */
  readonly reads: ReadPool
  /** What makes statistics fast; to be closed before the store. */
  readonly segments: SegmentBuilder
  /** Writes what waits. */
  close(): Promise<void>
}

/** @throws DataDirectoryError, MigrationError */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const db = openDatabase(options.dataDir)
  try {
    if (options.mayMigrate ?? true) migrate(db)
    else requireMigrated(db)
  } catch (error) {
    db.close()
    throw error
  }
  const isInMemory = options.dataDir === ':memory:'
  const openReads = (limits: ReadLimits) =>
    isInMemory
      ? createInlineReadPool(db, READ_JOBS)
      : createReadPool({ path: join(options.dataDir, DATABASE_FILE), ...limits })
  const reads = openReads(options.reads ?? READ_LIMITS)
  const { commit, writes, recordings, closeWrites } = openWrites(db, options)
  const segments = createSegmentBuilder({
    ...{ db, commit, isAutomatic: !isInMemory },
    reads: openReads(BUILD_LIMITS),
  })
  const payloads = createTrainingPayloads(options.dataDir)
  const folder = openFileFolder(options.dataDir, FILES_DIRECTORY)
  const artifactFolder = openFileFolder(options.dataDir, ARTIFACTS_DIRECTORY)
  const artifacts = createCheckpointArtifacts(db, artifactFolder)
  const moves = createJobMoves(db)
  const sweep = createSweep(db, { payloads, folder, artifacts })
  let missing: MissingFiles = { files: 0, training_payloads: 0, artifacts: 0 }
  const health = createStoreHealth({
    path: isInMemory ? null : join(options.dataDir, DATABASE_FILE),
    // Writes a number of the file's own head, which nothing else uses.
    write: () => commit.write(() => db.pragma('user_version = 0')),
    ...{ folder, missing: () => missing },
  })
  return {
    keys: createKeyStore(db, options.bootstrapKey),
    calls: createCallStore(db, writes),
    recordings,
    callsQuery: createCallsQueryStore(db, reads),
    stats: createStatsStore({ db, commit, reads }),
    usage: createUsageStore(reads),
    feedback: createFeedbackStore(db, commit, reads),
    objects: createObjectStore(db, commit, reads),
    tables: createTableStore(db, commit, reads),
    files: createFileStore(db, commit, folder),
    prices: createPriceStore(db, commit),
    previewModels: createPreviewModelStore(db, commit, { moves, artifacts }),
    trainingJobs: createTrainingJobStore(db, commit, { payloads, moves }),
    trainingQueue: createTrainingQueue({ db, commit, moves, artifacts, newId: uuidv7 }),
    checkpoints: createCheckpointStore(db, commit, artifacts),
    async sweep() {
      missing = await sweep()
      return missing
    },
    checkStore: health.checkStore,
    reads,
    segments,
    async close() {
      health.close()
      await closeWrites()
      closeDatabase(db)
      payloads.close()
      folder.close()
      artifactFolder.close()
    },
  }
}

/** The writes of calls and all others: never two of them at the same time. */
function openWrites(db: Connection, options: SqliteOptions) {
  const { dataDir, ingestQueueMax: queueMax } = options
  const isInMemory = dataDir === ':memory:'
  const thread = isInMemory
    ? null
    : createWriteThread({
        ...{ dataDir, queueMax },
        onCommit: () => log.noteCommit(),
        onRecordsLost: (loss) => recordings.lose(loss),
      })
  const log = createWalThread(db, dataDir, () => thread?.finishLog() ?? false)
  const commit = createGroupCommit(db, {
    queueMax,
    onCommit: log.noteCommit,
    ...(thread ? { takeTurn: thread.takeTurn } : {}),
  })
  const jobs = createWriteJobs(db, createHourMarks(db, commit))
  const { writesBeforeThread = WRITES_BEFORE_THREAD } = options
  const writes = createCallWrites({ commit, jobs, thread, writesBeforeThread })
  const recordings = createRecordings({
    ...{ writes, thread, queueMax },
    callsBeforeThread: writesBeforeThread,
  })
  return {
    commit,
    writes,
    recordings,
    async closeWrites() {
      await recordings.flush()
      await thread?.close()
      commit.close()
      log.close()
    },
  }
}
