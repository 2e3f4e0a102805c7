/** The contracts of the stores of preview models and of their checkpoints. */
import type { Readable } from 'node:stream'
import type { Artifact, Checkpoint, StoredCheckpoint } from '../../../domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { ListOrder } from '../../../schemas/query/page-query.ts'

export interface CheckpointListing {
  readonly model_id: string
  /** Id of a checkpoint of the model, deleted or not; rows after its step are read. null: from the beginning. */
  readonly after: string | null
  readonly order: ListOrder
  /** Rows to read at most. */
  readonly count: number
}

export interface DeletedSteps {
  readonly deleted_count: number
  /** In the order of the request. */
  readonly not_found_steps: number[]
}

export interface CheckpointStore {
  /**
   * Stores a checkpoint that no job has produced, of an existing model. Resolves only after it is durable; every
   * later list includes it, and later jobs produce later steps.
   *
   * @throws Error when the id is taken or the model has, or had, a checkpoint of the step: a fault of the trainer,
   * not of a client
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertCheckpoint(checkpoint: Checkpoint): Promise<void>
  /**
   * Hides checkpoints from lists, atomically. They remain valid as cursors, and their steps stay taken. Their files
   * are removed once no running job resumes from them.
   *
   * @param steps - each step counts once
   */
  deleteSteps(
    model_id: string,
    steps: readonly number[],
    deleted_at_us: number,
  ): Promise<DeletedSteps>
  /**
   * Lists the checkpoints of a model that are not deleted, by step. Rows that are added or removed while a client
   * pages neither repeat nor hide others.
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
  /**
   * The bytes of an artifact, which never change.
   *
   * @throws ApiError checkpoint_not_found when it was removed meanwhile, store_unavailable
   */
  openArtifact(artifact: Artifact): Promise<Readable>
}

export interface ModelListing {
  /** Only models of this name; null: all. */
  readonly name: string | null
  /** Only models of this project; null: of all. */
  readonly project_id: string | null
  /** Patterns of the projects that the caller may use: `acme/demo`, `acme/*` or `*`. */
  readonly projects: readonly string[]
  /** Only models that start from one of these; null: from any. */
  readonly base_models: readonly string[] | null
  /** Id of a model, deleted or not; the models after it are read. null: from the beginning. */
  readonly after: string | null
  readonly order: ListOrder
  /** Rows to read at most. */
  readonly count: number
}

export interface PreviewModelStore {
  /**
   * Stores a model, unless its project has one of the name, which is left unchanged. Resolves only after the
   * model is durable. Its steps continue after those of deleted models of the name.
   *
   * @returns the stored model of that name; compare its id to see whether it is the given one
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertModel(model: PreviewModel): Promise<PreviewModel>
  /** The model, or null when the id is unknown or deleted. Ids are in lower case. */
  findModel(id: string): Promise<PreviewModel | null>
  /**
   * Models by the time of their creation.
   *
   * @throws ApiError model_not_found for an `after` that is unknown or that the listing would not show
   */
  listModels(listing: ModelListing): Promise<PreviewModel[]>
  /**
   * Hides a model with its checkpoints, cancels its queued jobs and asks a running one to stop. Its name becomes
   * available again; jobs and their events stay readable.
   *
   * @returns checkpoints that were hidden, or null when there is no such model
   */
  deleteModel(id: string, now_us: number): Promise<number | null>
}
