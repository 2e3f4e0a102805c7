/** The contract of the store of retention settings: how long projects keep their calls. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'

/** Limit: settings in one listing. */
export const RETENTIONS_LISTED_MAX = 1000

export interface RetentionStore {
  /** The setting of a project; null: none. @throws ApiError store_unavailable */
  findRetention(projectId: string): Promise<ProjectRetention | null>
  /** Resolves only after it is durable. @throws ApiError server_overloaded, store_unavailable */
  setRetention(retention: ProjectRetention): Promise<void>
  /**
   * Lists the settings of the projects after a name, in byte order of the names; at most RETENTIONS_LISTED_MAX.
   *
   * @param after - the empty text for all
   * @throws ApiError store_unavailable
   */
  listRetentions(after: string): Promise<ProjectRetention[]>
}
