/** All stores of a server, as one thing that is opened and closed. */
import type { CallStore } from './calls.ts'
import type { CallsQueryStore } from './calls-query.ts'
import type { CheckpointStore } from './checkpoints.ts'
import type { FeedbackStore } from './feedback.ts'
import type { FileStore } from './files.ts'
import type { StoreHealth } from './health.ts'
import type { KeyStore } from './keys.ts'
import type { ObjectStore } from './objects.ts'
import type { PreviewModelStore } from './preview-models.ts'
import type { PriceStore } from './prices.ts'
import type { RecordingStore } from './recordings.ts'
import type { ResponseStore } from './responses.ts'
import type { StatsStore } from './stats.ts'
import type { TableStore } from './tables.ts'
import type { TrainingJobStore } from './training-jobs.ts'
import type { TrainingQueue } from './training-queue.ts'
import type { UsageStore } from './usage.ts'

/** What an opener gives is ready to be used; whether it still is, `checkStore` tells. */
export interface Stores extends StoreHealth {
  readonly keys: KeyStore
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
  /** Ends reads and work of the stores' own, writes what waits, and closes all of them. */
  close(): Promise<void>
}
