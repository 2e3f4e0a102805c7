/** All stores of a server, as one thing that is opened and closed. */
import type { AuditStore } from './access/audit.ts'
import type { BudgetStore } from './access/budgets.ts'
import type { KeyStore } from './access/keys.ts'
import type { PasswordStore } from './access/passwords.ts'
import type { PersonStore } from './access/people.ts'
import type { AgentStore } from './agents/agents.ts'
import type { AlertStore } from './alerts/alerts.ts'
import type { AnnotationStore } from './annotation/annotation-queues.ts'
import type { CallFeed } from './calls/call-feed.ts'
import type { CallRemoval, CallStore, CallsQueryStore } from './calls/calls.ts'
import type { ExportTicketStore } from './calls/export-tickets.ts'
import type { CompletionCacheStore } from './chat/completion-cache.ts'
import type { RecordingStore, ResponseStore } from './chat/recordings.ts'
import type { ResponseCancelStore } from './chat/response-cancels.ts'
import type { EvaluationJobStore } from './evaluations/evaluation-jobs.ts'
import type { EvaluatorStore } from './evaluators/evaluators.ts'
import type { FeedbackStore } from './feedback/feedback.ts'
import type { StoreHealth } from './health.ts'
import type { StoreMetricsSource } from './metrics.ts'
import type { CheckpointStore, PreviewModelStore } from './models/checkpoints.ts'
import type { ServedAliasStore } from './models/served-aliases.ts'
import type { ObjectStore } from './objects/objects.ts'
import type { FileStore, TableStore } from './objects/tables.ts'
import type { PriceStore } from './prices/prices.ts'
import type { ProjectStore, RedactionStore, RetentionStore } from './projects/projects.ts'
import type { StatsStore } from './stats/stats.ts'
import type { ThreadStore } from './threads/threads.ts'
import type { TrainingJobStore, TrainingQueue } from './training/training-queue.ts'
import type { UsageStore } from './usage/usage.ts'

/** Stores are ready when opened; `checkStore` shows whether they still work. */
export interface Stores extends StoreHealth, StoreMetricsSource {
  readonly audit: AuditStore
  readonly keys: KeyStore
  readonly people: PersonStore
  readonly passwords: PasswordStore
  readonly budgets: BudgetStore
  readonly alerts: AlertStore
  readonly evaluationJobs: EvaluationJobStore
  readonly calls: CallStore
  readonly removal: CallRemoval
  readonly recordings: RecordingStore
  readonly callsQuery: CallsQueryStore
  readonly threads: ThreadStore
  readonly agents: AgentStore
  readonly stats: StatsStore
  readonly usage: UsageStore
  /** Prices of tokens. */
  readonly prices: PriceStore
  readonly feedback: FeedbackStore
  readonly annotation: AnnotationStore
  readonly evaluators: EvaluatorStore
  /** Calls in the order in which they were stored. */
  readonly callFeed: CallFeed
  readonly objects: ObjectStore
  readonly tables: TableStore
  readonly files: FileStore
  readonly projects: ProjectStore
  /** How long projects keep their calls. */
  readonly retention: RetentionStore
  /** What is redacted in the data of projects. */
  readonly redactions: RedactionStore
  readonly previewModels: PreviewModelStore
  readonly trainingJobs: TrainingJobStore
  readonly trainingQueue: TrainingQueue
  readonly checkpoints: CheckpointStore
  /** Names by which projects serve models. */
  readonly servedAliases: ServedAliasStore
  /** Stored responses. */
  readonly responses: ResponseStore
  /** undefined: no other process shares the store. */
  readonly responseCancels?: ResponseCancelStore | undefined
  readonly completionCache: CompletionCacheStore
  readonly exportTickets: ExportTicketStore
  /** Why the data directory cannot be backed up while the server runs, in one line; null: it can. */
  backupFault(): string | null
  /** Ends reads and work of the stores' own, writes what waits, and closes all of them. Again: waits for the same end. */
  close(): Promise<void>
}

/** A close that runs once, however often it is asked. */
export function closeOnce(close: () => Promise<void>): () => Promise<void> {
  let end: Promise<void> | null = null
  return () => {
    end ??= close()
    return end
  }
}
