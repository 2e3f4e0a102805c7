/** The contract of the store of preview models. */
import type { PreviewModel } from '../../domain/preview-model.ts'

export interface PreviewModelStore {
  /**
   * Stores a model, unless its project has one of the name: that one is left as it is. Resolves only
   * after the model is durable.
   *
   * @returns the stored model of that name; its id tells whether it is the given one
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertModel(model: PreviewModel): Promise<PreviewModel>
  /** The model, or null when the id is unknown. Ids are in lower case. */
  findModel(id: string): Promise<PreviewModel | null>
}
