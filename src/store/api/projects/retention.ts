/** The contract of the store of how long projects keep their calls. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'

/** Limit: settings of one listing. */
export const RETENTIONS_LISTED_MAX = 1000

export interface RetentionStore {
  /** What the project was told; null: nothing. @throws ApiError store_unavailable */
  findRetention(projectId: string): Promise<ProjectRetention | null>
  /** Resolves only after it is durable. @throws ApiError server_overloaded, store_unavailable */
  setRetention(retention: ProjectRetention): Promise<void>
  /**
   * What projects behind a name were told, in the order of the bytes of their names; at most RETENTIONS_LISTED_MAX.
   *
   * @param after - the empty text for all
   * @throws ApiError store_unavailable
   */
  listRetentions(after: string): Promise<ProjectRetention[]>
}
