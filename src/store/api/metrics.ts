/** Metrics of stores: events, reported to a watch as they happen, and gauges, read on request. */

/** Called synchronously; must not throw. */
export interface StoreObserver {
  /**
   * Writes are on the disk.
   *
   * @param writes - that share the commit
   * @param seconds - that it took, the wait for room in the log included
   */
  committed(writes: number, seconds: number): void
  /** A read has ended, however it did. @param seconds - since it was asked for */
  readEnded(kind: ReadKind, seconds: number): void
}

/** Lists and searches; statistics; building what makes statistics fast; reads of stores elsewhere. */
export type ReadKind = 'lists' | 'stats' | 'build' | 'clickhouse' | 'postgres'

export interface WriteMetrics {
  readonly store: 'sqlite' | 'clickhouse'
  /** Number of writes without a result yet. */
  readonly waiting: number
  readonly waitingBytes: number
  /** Since the start, because too much waited. */
  readonly refused: number
}

export interface ReadMetrics {
  readonly kind: ReadKind
  readonly running: number
  readonly waiting: number
  /** Since the start, because too many waited. */
  readonly refused: number
}

/** Bytes. */
export interface DiskMetrics {
  readonly database: number
  /** The write-ahead log of the database. */
  readonly log: number
  /** Free on the file system of the data directory, for this process. */
  readonly free: number
}

/** Unfinished jobs, those behind the first 10,000 left out. */
export interface JobMetrics {
  readonly queued: number
  /** Leased to a worker. */
  readonly running: number
}

/** Failures of a remote database. */
export interface FaultMetrics {
  readonly store: 'clickhouse' | 'postgres'
  /** Statements since the start that failed because it was away, slow or full, repeats included. */
  readonly faults: number
}

export interface StoreMetrics {
  readonly writes: readonly WriteMetrics[]
  readonly reads: readonly ReadMetrics[]
  /** Failures of the remote databases in use. */
  readonly elsewhere: readonly FaultMetrics[]
  /** Recorded completions that are not stored yet. */
  readonly recordingsWaiting: number
  /** null in memory, or when the file system does not report it. */
  readonly disk: DiskMetrics | null
  /** null when the store does not respond in time. */
  readonly trainingJobs: JobMetrics | null
}

export interface StoreMetricsSource {
  /** Reads a few rows and files. Never fails. */
  readMetrics(): Promise<StoreMetrics>
}
