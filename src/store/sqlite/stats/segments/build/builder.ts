/**
 * Updates the segments of hours when an hour has become idle or has many new entries. A separate thread reads and
 * encodes them. The writer stores the result, but only if the segments have not changed since they were read. A crash
 * loses nothing: changes that are in no segment stay in `stats_changes`.
 */
import { ApiError } from '../../../../../errors.ts'
import type { Connection } from '../../../db/connection.ts'
import { orStoreError } from '../../../db/store-error.ts'
import type { ReadPool } from '../../../read/read-pool.ts'
import type { Writes } from '../../../write/writes.ts'
import { SELECT_UNBUILT_HOURS } from '../segments.sql.ts'
import type { BuildInput, BuildResult, BuiltSegment } from './build-job.ts'

/** Milliseconds between two checks. An hour that has not changed in between is idle. */
const POLL_INTERVAL_MS = 2000
/** An hour with this many new entries is built without waiting for it to be idle: queries read them one by one. */
const PENDING_MAX = 8192
/** An hour with this many is built even while it is spared. */
const PENDING_SPARED_MAX = 32_768
/**
 * An hour is spared for this many times the duration of its last build, so that calls with short pauses in between
 * do not rewrite its last segment after each pause.
 */
const SPARED_TIMES = 20
/** Limit: hours in one check. */
const POLLED_HOURS_MAX = 256
/** Limit: bytes of columns that one commit writes, so that it stays short. */
const WRITE_BYTES_MAX = 512 * 1024
/** Limit: entries of a segment, and its rows of usage. */
const PIECE_ROWS_MAX = 2 ** 17

export interface SegmentBuilder {
  /**
   * Builds everything that is in no segment, idle or not.
   *
   * @returns the number of segments written
   */
  buildAll(): Promise<number>
  /** Stops before the next segment. */
  close(): Promise<void>
}

interface SegmentBuilderOptions {
  /** For reads on this thread. */
  readonly db: Connection
  readonly writes: Writes
  /** The builder's own pool, which it closes. */
  readonly reads: ReadPool
  /** Whether it checks for work periodically, without keeping the process alive. */
  readonly isAutomatic: boolean
  /** Limit: entries of a segment, and its rows of usage. */
  readonly segmentRowsMax?: number | undefined
}

interface UnbuiltHour {
  readonly hour_key: number
  readonly revision: number
  readonly pending: number
}

export function createSegmentBuilder(options: SegmentBuilderOptions): SegmentBuilder {
  const { db, writes, reads, segmentRowsMax = PIECE_ROWS_MAX } = options
  const selectUnbuilt = db.prepare(SELECT_UNBUILT_HOURS)
  const closing = new AbortController()
  const caller = { keyId: '', project_id: '', signal: closing.signal }
  let seen: ReadonlyMap<number, number> | null = null
  /** Recently built hours, and until when they are spared, by `performance.now()`. */
  const spared = new Map<number, number>()
  let lastKey = 0
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function findUnbuilt(after_key: number): UnbuiltHour[] {
    const bound = { after_key, limit: POLLED_HOURS_MAX }
    return orStoreError(() => selectUnbuilt.all(bound) as UnbuiltHour[])
  }

  /** Builds all segments of an hour, each from its state at that time. @returns the number of segments written */
  async function build({ hour_key }: UnbuiltHour): Promise<number> {
    let from: BuildInput['from'] = null
    for (let written = 0; ; written++) {
      if (closing.signal.aborted) return written
      const input: BuildInput = { hour_key, segmentRowsMax, from }
      const built: BuildResult = await reads.run('build_segment', input, caller)
      if (built === null || built === 'broken') {
        if (built) await writes.run('invalidate_hours', [hour_key])
        return written
      }
      if (!(await writeSegment(writes, built))) return written
      from = built.rest
      if (built.isLast) return written + 1
    }
  }

  /** Checks each batch of unbuilt hours twice, then builds those that did not change in between and moves on. */
  async function look(): Promise<void> {
    const unbuilt = findUnbuilt(lastKey)
    if (seen === null) {
      seen = new Map(unbuilt.map(({ hour_key, revision }) => [hour_key, revision]))
      return
    }
    const before = seen
    for (const [key, untilMs] of spared) if (untilMs <= performance.now()) spared.delete(key)
    const due = unbuilt.filter(
      ({ hour_key, revision, pending }) =>
        pending >= PENDING_SPARED_MAX ||
        (!spared.has(hour_key) && (before.get(hour_key) === revision || pending >= PENDING_MAX)),
    )
    seen = null
    lastKey = unbuilt.length < POLLED_HOURS_MAX ? 0 : (unbuilt.at(-1)?.hour_key ?? 0)
    for (const hour of due) {
      if (closing.signal.aborted) return
      const startedMs = performance.now()
      await build(hour)
      const endedMs = performance.now()
      const tookMs = endedMs - startedMs
      spared.set(hour.hour_key, endedMs + tookMs * SPARED_TIMES)
      // Leaves half of the time to requests.
      await pause(tookMs, closing.signal)
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = look()
        .catch(ignoreRefusal)
        .finally(() => {
          if (!closing.signal.aborted) schedule()
        })
    }, POLL_INTERVAL_MS).unref()
  }

  if (options.isAutomatic) schedule()
  return {
    async buildAll() {
      let written = 0
      let after_key = 0
      for (;;) {
        const unbuilt = findUnbuilt(after_key)
        for (const hour of unbuilt) written += await build(hour)
        const last = unbuilt.at(-1)
        if (!last) return written
        after_key = last.hour_key
      }
    },
    async close() {
      closing.abort(new ApiError('server_draining'))
      clearTimeout(timer)
      await running
      await reads.close()
    },
  }
}

/** Writes a segment in batches. @returns false when the hour has been built or rewritten since it was read */
async function writeSegment(writes: Writes, built: BuiltSegment): Promise<boolean> {
  const { head, ...piece } = built
  const batches = inBatches(built.columns)
  for (const [index, columns] of batches.entries()) {
    const isLast = index === batches.length - 1
    const batch = { ...piece, columns, isFirst: index === 0, head: isLast ? head : null }
    if (!(await writes.run('put_segment', batch))) return false
  }
  return true
}

/** Splits columns into batches, at least one. */
function inBatches(columns: BuiltSegment['columns']): BuiltSegment['columns'][] {
  const batches: BuiltSegment['columns'][number][][] = [[]]
  let bytes = 0
  for (const column of columns) {
    if (bytes > 0 && bytes + column.body.length > WRITE_BYTES_MAX) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)?.push(column)
    bytes += column.body.length
  }
  return batches
}

/** Ignores a full, closing or unreadable store: the next check tries again. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}

/** Removes its listener at the end, because the signal lives as long as the process. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms).unref()
    signal.addEventListener('abort', end)
  })
}
