/** The contract of the store of training jobs and their payloads. */
import type { NewTrainingJob, TrainingJob } from '../../domain/training-job.ts'

export interface TrainingJobStore {
  /**
   * Stores a job in the state `queued`, last in its model's queue. Resolves only after payload and job
   * are durable, the payload first: a crash may leave a payload without a job, never a job without its
   * payload. When the model has a job of the same idempotency key and content, nothing is stored.
   *
   * @param job - of a model that exists
   * @param payload - text of the trajectory groups
   * @returns the stored job, which on a repeat is the first one, in its present state
   * @throws ApiError idempotency_conflict when the key stands for other content; server_overloaded,
   * store_unavailable: then nothing is stored
   */
  insertJob(job: NewTrainingJob, payload: string): Promise<TrainingJob>
  /** The job, or null when the id is unknown. Ids are in lower case. */
  findJob(id: string): Promise<TrainingJob | null>
}
