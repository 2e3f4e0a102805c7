/** The contract of the store of cached completions. */

/** A completion that is replayed to the same request. */
export interface CachedCompletion {
  /** SHA-256 of the request, in hex. */
  readonly digest: string
  /** Microseconds since the epoch, as the next. */
  readonly created_at_us: number
  /** It is not found from then on. */
  readonly expires_at_us: number
  readonly response_json: string
}

export interface CompletionCacheStore {
  /** Returns the completion if it has not expired, otherwise null. Finds those that other processes have stored. */
  findCompletion(
    digest: string,
    nowUs: number,
  ): Promise<Pick<CachedCompletion, 'created_at_us' | 'response_json'> | null>
  /**
   * Stores a completion in place of one with the same digest. Removes some that have expired by its creation, and the
   * oldest ones until all together take at most `bytesMax` bytes.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  storeCompletion(completion: CachedCompletion, bytesMax: number): Promise<void>
}
