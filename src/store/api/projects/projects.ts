/** The contract of what is stored of a project as a whole. */
import type { ReadCaller } from '../read-caller.ts'

/** Bytes. */
export interface ContentSizes {
  /** Contents of versions that are not deleted, each as often as there is a version of it. */
  readonly objects: number
  /** Rows of tables. */
  readonly tables: number
}

export interface ProjectStore {
  /**
   * How much the contents of the caller's project hold.
   *
   * @param caller - who waits
   * @throws ApiError server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  sumContents(caller: ReadCaller): Promise<ContentSizes>
  /**
   * All projects that calls, or names for them, were ever sent to, in the order of bytes, also those that the
   * caller may not use. Throws as sumContents does.
   */
  listProjects(caller: ReadCaller): Promise<string[]>
}
