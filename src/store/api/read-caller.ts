/** The caller of a read: heavy reads are scheduled fairly between keys, and between the projects of a key. */
export interface ReadCaller {
  /** Id of the API key. */
  readonly keyId: string
  readonly project_id: string
  /** Aborted when the caller no longer waits; its reason is thrown when it is an ApiError. */
  readonly signal: AbortSignal
}
