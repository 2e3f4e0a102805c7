/** The contract of the feed: calls in the order in which they were stored. */

export interface FeedCall {
  /** Where it is in the feed. */
  readonly position: number
  readonly project_id: string
  readonly id: string
  /** null before its start has arrived, as `op_name`. */
  readonly trace_id: string | null
  readonly thread_id: string | null
  readonly op_name: string | null
}

interface FeedPart {
  readonly calls: readonly FeedCall[]
  /** The last position that was looked at; that of the request at the end. */
  readonly position: number
}

export interface CallFeed {
  /** The position behind all calls that are stored. */
  findEnd(): Promise<number>
  /**
   * Reads calls of some projects behind a position, in order. Each call that is stored is in it at least once; where the
   * start and the end are rows of their own, only once it has ended. A call may be there seconds after its
   * acknowledgement, never behind a position that was returned before.
   */
  readFeed(after: number, project_ids: readonly string[]): Promise<FeedPart>
}
