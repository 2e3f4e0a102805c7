/** The contract of the store of retention settings: how long projects keep their calls. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'

/** Limit: settings in one listing. */
export const RETENTIONS_LISTED_MAX = 1000

/** Keeps changes of a project's setting waiting while a step removes calls by it. */
export interface PinnedRetention {
  /** The setting that holds until the end; null: none. */
  readonly retention: ProjectRetention | null
  end(): Promise<void>
}

export interface RetentionStore {
  /** The setting of a project; null: none. @throws ApiError store_unavailable */
  findRetention(projectId: string): Promise<ProjectRetention | null>
  /**
   * Resolves after it is durable and every hold by an earlier setting has ended, in whichever process: what is removed
   * from then on is removed by the new setting.
   *
   * @throws ApiError server_overloaded, store_unavailable: it may be stored, and a step by the earlier setting may run
   */
  setRetention(retention: ProjectRetention): Promise<void>
  /**
   * Reads the setting for a step. The caller ends the hold.
   *
   * @returns null while a change waits for the step of another process
   * @throws ApiError store_unavailable
   */
  pinRetention(projectId: string): Promise<PinnedRetention | null>
  /**
   * Lists the settings of the projects after a name, in byte order of the names; at most RETENTIONS_LISTED_MAX.
   *
   * @param after - the empty text for all
   * @throws ApiError store_unavailable
   */
  listRetentions(after: string): Promise<ProjectRetention[]>
}
