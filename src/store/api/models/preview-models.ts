/** The contract of the store of preview models. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { ListOrder } from '../../../schemas/query/page-query.ts'

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
