/** Who waits for a read: heavy reads take turns between keys, and between the projects of a key. */
export interface ReadCaller {
  /** Id of the API key. */
  readonly keyId: string
  readonly project_id: string
  /** Aborted when nobody waits any more; its reason is thrown when it is an ApiError. */
  readonly signal: AbortSignal
}
