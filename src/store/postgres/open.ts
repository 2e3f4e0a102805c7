/**
 * The stores that several processes share: PostgreSQL has everything except calls. ClickHouse is opened on top of
 * these; the rest of the node's own store stays empty.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallsQueryStore } from '../api/calls/calls.ts'
import type { JobMetrics } from '../api/metrics.ts'
import { closeOnce } from '../api/stores.ts'
import { AUDIT_WRITES, createAuditStore } from '../base/access/audit-store.ts'
import { createBudgetStore, createBudgetWrites } from '../base/access/budget-store.ts'
import { createKeyStore, createKeyWrites } from '../base/access/key-store.ts'
import { createPasswordStore, createPasswordWrites } from '../base/access/password-store.ts'
import { createPersonStore, createPersonWrites } from '../base/access/person-store.ts'
import { createAlertStore, createAlertWrites } from '../base/alerts/alert-store.ts'
import { createExportTicketStore, EXPORT_TICKET_WRITES } from '../base/calls/export-ticket-store.ts'
import {
  createCompletionCacheStore,
  createCompletionCacheWrites,
} from '../base/chat/completion-cache-store.ts'
import { createResponseStore, RESPONSE_WRITES } from '../base/chat/response-store.ts'
import type { OnMigrate } from '../base/db/migration-files.ts'
import {
  createEvaluationJobStore,
  createEvaluationJobWrites,
} from '../base/evaluations/evaluation-job-store.ts'
import { createEvaluatorStore, createEvaluatorWrites } from '../base/evaluators/evaluator-store.ts'
import { createPreviewModelStore } from '../base/models/model-store.ts'
import {
  createServedAliasStore,
  createServedAliasWrites,
} from '../base/models/served-alias-store.ts'
import type { NodeStores } from '../base/node-stores.ts'
import { cacheKnownProjects, hasContents } from '../base/projects/project-steps.ts'
import { createTrainingQueue } from '../base/training/queue-store.ts'
import { COUNT_UNFINISHED_JOBS } from '../base/training/training-jobs.sql.ts'
import { createAnnotationStore } from './annotation/annotation-queues.ts'
import { createBlobs } from './blobs/blobs.ts'
import { createJoinedDataOf } from './calls/call-joins.ts'
import { createResponseCancelStore } from './chat/response-cancels.ts'
import { connectPostgres, type Postgres } from './db/client.ts'
import { POSTGRES } from './db/dialect.sql.ts'
import { migrate } from './db/migrate.ts'
import type { ReadLimits } from './db/reads.ts'
import { createReads } from './db/reads.ts'
import { createStepRuns, createTransactionRuns, runSteps } from './db/run-steps.ts'
import { sweepHourly } from './db/sweep.ts'
import { createFeedbackStore } from './feedback/feedback.ts'
import { createStoreHealth } from './health/store-health.ts'
import { createFileStore, sweepFiles } from './objects/files.ts'
import { createObjectStore } from './objects/objects.ts'
import { createTableStore } from './objects/tables.ts'
import { createPriceStore } from './prices/prices.ts'
import { createRedactionStore, createRetentionStore, sumContents } from './projects/retention.ts'
import { QUEUE } from './training/training-queue.sql.ts'
import {
  createArtifactReceiver,
  createCheckpointStore,
  createQueueNotifier,
  createTrainingJobStore,
  createTrainingRuns,
} from './training/training-stores.ts'

interface PostgresStoreOptions {
  /** Address with user, password and database. Secret. */
  readonly url: string
  /** Limits of reads that may scan many rows. */
  readonly reads: ReadLimits
  /** Limit: time of a statement that writes; default 10 s. */
  readonly writeTimeoutMs?: number
  readonly onMigrate?: OnMigrate | undefined
}

/** Limit: how long metrics wait for PostgreSQL. */
const FIGURES_MS_MAX = 1_000
/** Connections besides those of the reads. */
const CONNECTIONS_OF_REST = 8

/**
 * Opens PostgreSQL beside the node's own store, migrations included. Closing it closes both.
 *
 * @throws MigrationError; the node's store is then left open
 */
export async function openPostgresStores(
  node: NodeStores,
  options: PostgresStoreOptions,
): Promise<NodeStores> {
  await migrate(options.url, { onMigrate: options.onMigrate })
  const { slots } = options.reads
  const db = connectPostgres({
    url: options.url,
    readTimeoutMs: options.reads.waitMsMax,
    writeTimeoutMs: options.writeTimeoutMs,
    connectionsMax: slots + CONNECTIONS_OF_REST,
  })
  const reads = createReads(options.reads)
  const blobs = createBlobs(db)
  const notifier = createQueueNotifier(options.url)
  const training = { runs: createTrainingRuns(db), notifier, removeUnused: blobs.removeUnused }
  const stopSweep = sweepHourly(() => Promise.all([sweepFiles(db), blobs.sweep()]))
  const annotationOf = (calls: CallsQueryStore) => createAnnotationStore({ db, reads }, calls)
  return {
    ...node,
    audit: createAuditStore(createStepRuns(db, AUDIT_WRITES)),
    keys: createKeyStore(createTransactionRuns(db, createKeyWrites(POSTGRES))),
    people: createPersonStore(createTransactionRuns(db, createPersonWrites(POSTGRES))),
    passwords: createPasswordStore(createTransactionRuns(db, createPasswordWrites(POSTGRES))),
    budgets: createBudgetStore(createTransactionRuns(db, createBudgetWrites(POSTGRES))),
    alerts: createAlertStore(createTransactionRuns(db, createAlertWrites(POSTGRES))),
    evaluationJobs: createEvaluationJobStore(
      createTransactionRuns(db, createEvaluationJobWrites(POSTGRES)),
    ),
    servedAliases: createServedAliasStore(
      createTransactionRuns(db, createServedAliasWrites(POSTGRES)),
    ),
    evaluators: createEvaluatorStore(createTransactionRuns(db, createEvaluatorWrites(POSTGRES))),
    prices: createPriceStore(db),
    feedback: createFeedbackStore(db, reads),
    joinedDataOf: createJoinedDataOf(db),
    annotation: annotationOf(node.callsQuery),
    annotationOf,
    objects: createObjectStore(db, reads),
    tables: createTableStore(db, reads),
    files: createFileStore(db),
    responses: createResponseStore(createStepRuns(db, RESPONSE_WRITES)),
    responseCancels: createResponseCancelStore(db),
    completionCache: createCompletionCacheStore(
      createTransactionRuns(db, createCompletionCacheWrites(POSTGRES)),
    ),
    exportTickets: createExportTicketStore(createTransactionRuns(db, EXPORT_TICKET_WRITES)),
    projects: {
      ...node.projects,
      hasProject: cacheKnownProjects((project_id) => runSteps(db, hasContents(project_id))),
      sumContents: (caller) => reads.run(caller, () => sumContents(db, caller.project_id)),
    },
    retention: createRetentionStore(db, options.url),
    redactions: createRedactionStore(db),
    previewModels: createPreviewModelStore(training),
    trainingJobs: createTrainingJobStore(training, blobs),
    trainingQueue: createTrainingQueue(training, QUEUE, createArtifactReceiver(training, blobs)),
    checkpoints: createCheckpointStore(training, blobs),
    checkStore: createStoreHealth(db, node).checkStore,
    async readMetrics() {
      const [figures, trainingJobs] = await Promise.all([node.readMetrics(), countJobs(db)])
      return {
        ...figures,
        reads: [...figures.reads, reads.figures()],
        elsewhere: [...figures.elsewhere, db.figures()],
        trainingJobs,
      }
    },
    close: closeOnce(async () => {
      stopSweep()
      await notifier.close()
      await node.close()
      await db.close()
    }),
  }
}

/** null when PostgreSQL does not respond in time. */
function countJobs(db: Postgres): Promise<JobMetrics | null> {
  const counted = db.first<JobMetrics>(COUNT_UNFINISHED_JOBS)
  return Promise.race([
    counted.then(
      (found) => found ?? null,
      () => null,
    ),
    sleep(FIGURES_MS_MAX, null, { ref: false }),
  ])
}

/**
 * Opens only the keys, for a command that runs beside servers.
 *
 * @throws MigrationError
 */
export async function openPostgresKeys(url: string) {
  await migrate(url)
  const db = connectPostgres({ url, connectionsMax: 1, readTimeoutMs: COMMAND_MS_MAX })
  const keys = createKeyStore(createTransactionRuns(db, createKeyWrites(POSTGRES)))
  return { keys, close: closeOnce(db.close) }
}

/** Limit: time of a statement of a command. */
const COMMAND_MS_MAX = 10_000
