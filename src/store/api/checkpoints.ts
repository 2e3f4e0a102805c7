/** The contract of the checkpoint store. */
import type { Checkpoint } from '../../domain/checkpoint.ts'
import type { CheckpointOrder } from '../../schemas/checkpoint.ts'

export interface CheckpointListing {
  readonly model_id: string
  /** Id of a checkpoint of the model, deleted or not; rows behind its step are read. null: from the beginning. */
  readonly after: string | null
  readonly order: CheckpointOrder
  /** Rows to read at most. */
  readonly count: number
}

export interface CheckpointStore {
  /**
   * Stores a checkpoint of a model that exists. Resolves only after it is durable; every list that is
   * asked for later has it.
   *
   * @throws when the id is taken or the model has, or had, a checkpoint of the step: an error of the
   * trainer's, not of a client's
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertCheckpoint(checkpoint: Checkpoint): Promise<void>
  /**
   * Hides a checkpoint from lists. It stays known as a cursor, and its step stays taken.
   *
   * @returns false when the model has no such checkpoint, or it was deleted before
   */
  deleteCheckpoint(model_id: string, id: string, deleted_at_us: number): Promise<boolean>
  /**
   * The checkpoints of a model that are not deleted, by step. Rows that come or go while a client pages
   * neither repeat nor hide others.
   *
   * @throws ApiError checkpoint_not_found when `after` never was a checkpoint of the model
   */
  listCheckpoints(listing: CheckpointListing): Promise<Checkpoint[]>
}
