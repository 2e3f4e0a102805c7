/** The contract of what is stored of a project as a whole. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'

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
