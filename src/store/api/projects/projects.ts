/** The contracts of the stores of projects and of the retention of their calls. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ProjectRetention } from '../../../domain/projects/retention.ts'

/** Bytes. */
export interface ContentSizes {
  /** Contents of versions that are not deleted, counted once per version. */
  readonly objects: number
  /** Rows of tables. */
  readonly tables: number
}

export interface ProjectStore {
  /**
   * Sums the sizes of the contents of the caller's project.
   *
   * @param caller - who waits
   * @throws ApiError server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  sumContents(caller: ReadCaller): Promise<ContentSizes>
  /**
   * Lists all projects that calls or call names were ever sent to, in byte order, including those that the caller
   * may not use. Throws as sumContents does.
   */
  listProjects(caller: ReadCaller): Promise<string[]>
  /**
   * Whether anything was ever written to a project: calls, feedback, objects, files, queues, prices, settings or
   * models. Remembers that it was.
   *
   * @throws ApiError store_unavailable
   */
  hasProject(projectId: string): Promise<boolean>
}

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
   * from then on is removed by the new setting. The change adds an entry to the audit list, in its transaction.
   *
   * @throws ApiError server_overloaded, store_unavailable: it may be stored, and a step by the earlier setting may run
   */
  setRetention(retention: ProjectRetention, by?: AuditOrigin): Promise<void>
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

/** Limit: projects with redaction. */
export const REDACTIONS_MAX = 1000

/** What is redacted in the data of a project, as JSON text; null: nothing is. */
export interface ProjectRedaction {
  readonly project_id: string
  readonly rules_json: string | null
}

export interface RedactionStore {
  /** The settings of all projects that have one. @throws ApiError store_unavailable */
  listRedactions(): Promise<{ readonly project_id: string; readonly rules_json: string }[]>
  /**
   * Resolves after it is durable. The change adds an entry to the audit list, in its transaction.
   *
   * @throws ApiError validation_failed when REDACTIONS_MAX other projects have one; server_overloaded, store_unavailable
   */
  setRedaction(redaction: ProjectRedaction, by?: AuditOrigin): Promise<void>
}
