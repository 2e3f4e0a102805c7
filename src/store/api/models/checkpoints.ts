/** The contract of the checkpoint store. */
import type { Readable } from 'node:stream'
import type { Artifact, Checkpoint, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { ListOrder } from '../../../schemas/query/page-query.ts'

export interface CheckpointListing {
  readonly model_id: string
  /** Id of a checkpoint of the model, deleted or not; rows behind its step are read. null: from the beginning. */
  readonly after: string | null
  readonly order: ListOrder
  /** Rows to read at most. */
  readonly count: number
}

export interface DeletedSteps {
  readonly deleted_count: number
  /** In the order in which they were asked for. */
  readonly not_found_steps: number[]
}

export interface CheckpointStore {
  /**
   * Stores a checkpoint that no job made, of a model that exists. Resolves only after it is durable; every
   * list that is asked for later has it, and later jobs make later steps.
   *
   * @throws when the id is taken or the model has, or had, a checkpoint of the step: an error of the
   * trainer's, not of a client's
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertCheckpoint(checkpoint: Checkpoint): Promise<void>
  /**
   * Hides checkpoints from lists, all at once. They stay known as cursors, and their steps stay taken. Their
   * files are removed when no running job goes on from them.
   *
   * @param steps - each step counts once
   */
  deleteSteps(
    model_id: string,
    steps: readonly number[],
    deleted_at_us: number,
  ): Promise<DeletedSteps>
  /**
   * The checkpoints of a model that are not deleted, by step. Rows that come or go while a client pages
   * neither repeat nor hide others.
   *
   * @throws ApiError checkpoint_not_found when `after` never was a checkpoint of the model
   */
  listCheckpoints(listing: CheckpointListing): Promise<Checkpoint[]>
  /**
   * A checkpoint that is not deleted, or null.
   *
   * @param step - 'latest': the one of the highest step
   */
  findCheckpoint(model_id: string, step: number | 'latest'): Promise<StoredCheckpoint | null>
  /** The bytes of an artifact, which never change. @throws ApiError checkpoint_not_found when it was removed meanwhile */
  openArtifact(artifact: Artifact): Promise<Readable>
}
