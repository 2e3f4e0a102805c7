/** The contract of the store of training jobs and their payloads, as clients see them. */
import type { Readable } from 'node:stream'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { NewTrainingJob, TrainingJob } from '../../../domain/training/training-job.ts'
import type { ListOrder } from '../../../schemas/query/page-query.ts'
import type { TrainingJobState } from '../../../schemas/training/training-job.ts'
import type { JobEventType } from '../../../schemas/training/worker.ts'

/** The trajectory groups of a job: a text, without half surrogate pairs, or the bytes of one, which are read once. */
export type TrainingPayload = string | AsyncIterable<Buffer>

export interface JobListing {
  /** null: of all models. */
  readonly model_id: string | null
  readonly status: TrainingJobState | null
  /** Id of a job; the jobs after it are read. null: from the beginning. */
  readonly after: string | null
  readonly order: ListOrder
  /** Rows to read at most. */
  readonly count: number
  /** Patterns of the projects whose jobs the caller may see: `acme/demo`, `acme/*` or `*`. */
  readonly projects: readonly string[]
}

/** A job with the other data that clients see. */
export interface JobView {
  readonly job: TrainingJob
  readonly model: PreviewModel
  /** Step of its result, or null. */
  readonly result_step: number | null
}

export interface StoredJobEvent {
  /** A UUID in lower case. */
  readonly id: string
  readonly type: JobEventType
  readonly data_json: string
}

export interface EventListing {
  readonly job_id: string
  /** Id of an event of any attempt of the job; later events are read. null: from the beginning. */
  readonly after: string | null
  /** Rows to read at most. */
  readonly count: number
}

export interface TrainingJobStore {
  /**
   * Stores a job in the state `queued`, last in its model's queue. Resolves only after payload and job
   * are durable, the payload first: a crash may leave a payload without a job, never a job without its
   * payload. When the model has a job of the same idempotency key and content, nothing is stored.
   *
   * @param job - of a model that exists
   * @returns the stored job, which on a repeat is the first one, in its present state
   * @throws ApiError idempotency_conflict when the key was used with other content; model_not_found when the
   * model was deleted meanwhile; server_overloaded, store_unavailable: then nothing is stored. What the payload
   * throws comes through
   */
  insertJob(job: NewTrainingJob, payload: TrainingPayload): Promise<TrainingJob>
  /** The job, or null when the id is unknown. Ids are in lower case. */
  findJob(id: string): Promise<TrainingJob | null>
  /** The job with its model, deleted or not, or null when the id is unknown. */
  findJobView(id: string): Promise<JobView | null>
  /**
   * Jobs by the time of their creation.
   *
   * @throws ApiError training_job_not_found for an `after` that is unknown or of another's project
   */
  listJobs(listing: JobListing): Promise<JobView[]>
  /**
   * Cancels a queued job at once, and asks a running one to stop.
   *
   * @throws ApiError training_job_ended when it has succeeded or failed
   */
  cancelJob(id: string, now_us: number): Promise<void>
  /**
   * The events of a job's last attempt in the order in which they came; those of earlier attempts are hidden.
   *
   * @throws ApiError validation_failed when `after` never was an event of the job
   */
  listEvents(listing: EventListing): Promise<StoredJobEvent[]>
  /** The bytes of a payload, as they were sent. @throws ApiError store_unavailable */
  openPayload(job: TrainingJob): Promise<Readable>
}
