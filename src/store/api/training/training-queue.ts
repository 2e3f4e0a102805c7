/**
 * The contract of the training queue: what workers do with jobs. Jobs of a model run one at a time in the
 * order of their seq; one that fails does not block the next. Each method is one transaction, and resolves
 * only after it is durable. Only the times that are given count; the store has no clock.
 */
import type { Readable } from 'node:stream'
import type { StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { NewTrainingJob, TrainingJob } from '../../../domain/training/training-job.ts'
import type {
  AttemptEnd,
  AttemptStart,
  Failure,
  JobEvent,
} from '../../../domain/training/training-moves.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'
import type { ListOrder } from '../../../schemas/query/page-query.ts'
import type { TrainingJobState } from '../../../schemas/training/training-job.ts'
import type { JobEventType } from '../../../schemas/training/worker.ts'

/** The limits that end attempts. */
export interface QueueTimes extends AttemptEnd {
  /** A job that could have run for this long ends as failed; 0: never. */
  readonly queue_timeout_ms: number
}

export interface Claim extends Omit<AttemptStart, 'now_us' | 'parent'> {
  readonly times: QueueTimes
  /** Base models that the worker can train. */
  readonly base_models: readonly string[]
  /** Patterns of the projects that it may work for. */
  readonly projects: readonly string[]
}

export interface ClaimedJob {
  readonly job: TrainingJob
  readonly model: PreviewModel
  /** The checkpoint that training resumes from: the newest that is not deleted. */
  readonly parent: StoredCheckpoint | null
}

/** A worker's proof that it holds a job. */
export interface Lease {
  readonly job_id: string
  readonly token_hash: string
  readonly now_us: number
}

/** An event that a worker reports. */
export interface NewJobEvent extends JobEvent {
  /** Number of the event in its attempt, >= 0. */
  readonly seq: number
}

export interface Outcome {
  /** Id of the new checkpoint. */
  readonly checkpoint_id: string
  /** SHA-256 of the staged artifact; null: the parent's weights stay. */
  readonly sha256: string | null
  readonly metrics: JsonObject
  readonly reason: string | null
}

export interface TrainingQueue {
  /**
   * Leases the oldest job that may run and that the worker accepts, after ending what is overdue.
   *
   * @returns null when there is none
   */
  claimJob(claim: Claim): Promise<ClaimedJob | null>
  /** The leased job with its parent. @throws ApiError lease_lost */
  findLeased(lease: Lease): Promise<ClaimedJob>
  /** @throws ApiError lease_lost */
  renewLease(lease: Lease, renewal: LeaseRenewal): Promise<TrainingJob>
  /**
   * Adds events to the attempt; an event whose seq is already stored is dropped. A training_started precedes the
   * first event of another type, whether or not the worker has sent it.
   *
   * @throws ApiError lease_lost; validation_failed when the attempt has too many
   */
  recordEvents(lease: Lease, events: readonly NewJobEvent[]): Promise<void>
  /**
   * Ends the job with its last event and a new checkpoint, which every later list includes. Repeating the call with
   * the same lease and sha256 returns the same checkpoint.
   *
   * @throws ApiError artifact_conflict when the sha256 is not that of the staged or completed artifact;
   * lease_lost, also when a client has cancelled the job, which then ends as cancelled
   */
  completeJob(lease: Lease, outcome: Outcome): Promise<StoredCheckpoint>
  /** Ends the attempt as failed. @returns the job, queued, failed or cancelled @throws ApiError lease_lost */
  failAttempt(lease: Lease, failure: Failure, end: AttemptEnd): Promise<TrainingJob>
  /** Returns the job to the queue. @returns the job, queued or cancelled @throws ApiError lease_lost */
  releaseJob(lease: Lease): Promise<TrainingJob>
  /** Ends what is overdue. @returns how many jobs changed state */
  endOverdue(times: QueueTimes): Promise<number>
  /** The next deadline of a lease, an attempt or a wait; null when there is none. */
  nextDueUs(now_us: number, queue_timeout_ms: number): Promise<number | null>
  /**
   * Gives every running job a whole lease: the server was away or its clock was set, and its worker knows nothing of
   * that.
   *
   * @param lease_ms - counted from `now_us`
   * @param moved_us - by how much the clock was set; the limits of attempts and the waits of jobs move with it
   */
  resumeLeases(now_us: number, lease_ms: number, moved_us: number): Promise<void>
  /** Takes in the bytes of an artifact. @throws ApiError request_too_large, store_unavailable */
  receiveArtifact(source: AsyncIterable<Buffer>, bytesMax: number): Promise<ReceivedArtifact>
  /**
   * Calls the listener after every change that may let another job be claimed, as far as this process knows of it: it
   * saves time, and callers look by themselves, too.
   *
   * @returns the end of it
   */
  onChange(listener: () => void): () => void
}

export interface LeaseRenewal {
  readonly lease_ms: number
  /** 0..1; null: not reported. */
  readonly progress: number | null
}

/** An uploaded file that belongs to no job yet. */
interface ReceivedArtifact {
  readonly sha256: string
  readonly bytes: number
  /**
   * Makes it the artifact of the attempt; one that was staged before is removed.
   *
   * @throws ApiError lease_lost; then it is not taken. store_unavailable
   */
  stage(lease: Lease): Promise<void>
  /** Removes what was not staged. Never fails. */
  discard(): Promise<void>
}

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
