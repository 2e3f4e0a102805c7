/** Opens the SQLite stores over one connection. */
import { join } from 'node:path'
import type { CallStore } from '../api/calls.ts'
import type { CallsQueryStore } from '../api/calls-query.ts'
import type { CheckpointStore } from '../api/checkpoints.ts'
import type { FeedbackStore } from '../api/feedback.ts'
import type { FileStore } from '../api/files.ts'
import type { KeyStore } from '../api/keys.ts'
import type { ObjectStore } from '../api/objects.ts'
import type { PreviewModelStore } from '../api/preview-models.ts'
import type { PriceStore } from '../api/prices.ts'
import type { StatsStore } from '../api/stats.ts'
import type { TableStore } from '../api/tables.ts'
import type { TrainingJobStore } from '../api/training-jobs.ts'
import type { UsageStore } from '../api/usage.ts'
import { createCallStore } from './calls.ts'
import { createCallsQueryStore } from './calls-query.ts'
import { createCheckpointStore } from './checkpoints.ts'
import { closeDatabase, DATABASE_FILE, openDatabase } from './connection.ts'
import { createFeedbackStore } from './feedback.ts'
import { openFileFolder } from './file-folder.ts'
import { createFileStore } from './files.ts'
import { createGroupCommit } from './group-commit.ts'
import { createKeyStore } from './keys.ts'
import { migrate } from './migrate.ts'
import { createObjectStore } from './objects.ts'
import { createPreviewModelStore } from './preview-models.ts'
import { createPriceStore } from './prices.ts'
import { READ_JOBS } from './read-jobs.ts'
import { createInlineReadPool, createReadPool, type ReadPool } from './read-pool.ts'
import { createStatsStore } from './stats.ts'
import { createTableStore } from './tables.ts'
import { createTrainingJobStore } from './training-jobs.ts'
import { createTrainingPayloads } from './training-payloads.ts'
import { createUsageStore } from './usage.ts'
import { createWalThread } from './wal-thread.ts'

export interface SqliteOptions {
  /** A directory, or ':memory:'. */
  readonly dataDir: string
  readonly bootstrapKey: string | null
  /** Writes that may wait for a commit. */
  readonly ingestQueueMax: number
  /** Limits of the heavy reads. */
  readonly reads?: ReadLimits
}

export interface ReadLimits {
  readonly threads: number
  readonly queueMax: number
  readonly timeoutMs: number
}

const READ_LIMITS: ReadLimits = { threads: 1, queueMax: 16, timeoutMs: 60_000 }

export interface SqliteStore {
  readonly keys: KeyStore
  readonly calls: CallStore
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
  readonly checkpoints: CheckpointStore
  /** Heavy reads; to be closed before the store. */
  readonly reads: ReadPool
  isReady(): boolean
  close(): void
}

/** @throws DataDirectoryError, MigrationError */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const db = openDatabase(options.dataDir)
  try {
    migrate(db)
  } catch (error) {
    db.close()
    throw error
  }
  const reads =
    options.dataDir === ':memory:'
      ? createInlineReadPool(db, READ_JOBS)
      : createReadPool({
          path: join(options.dataDir, DATABASE_FILE),
          ...(options.reads ?? READ_LIMITS),
        })
  const log = createWalThread(db, options.dataDir)
  const commit = createGroupCommit(db, options.ingestQueueMax, log.noteCommit)
  const payloads = createTrainingPayloads(options.dataDir)
  const folder = openFileFolder(options.dataDir)
  return {
    keys: createKeyStore(db, options.bootstrapKey),
    calls: createCallStore(db, commit),
    callsQuery: createCallsQueryStore(db, reads),
    stats: createStatsStore(reads),
    usage: createUsageStore(reads),
    feedback: createFeedbackStore(db, commit, reads),
    objects: createObjectStore(db, commit, reads),
    tables: createTableStore(db, commit, reads),
    files: createFileStore(db, commit, folder),
    prices: createPriceStore(db, commit),
    previewModels: createPreviewModelStore(db, commit),
    trainingJobs: createTrainingJobStore(db, commit, payloads),
    checkpoints: createCheckpointStore(db, commit),
    reads,
    isReady: () => db.open,
    close() {
      commit.close()
      log.close()
      closeDatabase(db)
      payloads.close()
      folder.close()
    },
  }
}
