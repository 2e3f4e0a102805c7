/**
 * Brings the pieces of hours forward: when an hour has come to rest, or when much has happened in it. The work is
 * done in a thread of its own, which reads; what it made is written by the writer, and only while the hour's
 * pieces are as they were read. A crash loses nothing: what stands in no piece is still written down.
 */
import { ApiError } from '../../../../../errors.ts'
import type { Connection } from '../../../db/connection.ts'
import type { ReadPool } from '../../../read/read-pool.ts'
import type { Writes } from '../../../write/writes.ts'
import { SELECT_UNBUILT_HOURS } from '../segments.sql.ts'
import type { BuildInput, BuildResult, BuiltPiece } from './build-job.ts'

/** An hour that has not changed from one look to the next has come to rest. */
const LOOK_EVERY_MS = 2000
/** An hour with so many new entries is not waited for: questions read them one by one. */
const PENDING_MAX = 8192
/** An hour with so many is not left alone either. */
const PENDING_SPARED_MAX = 32_768
/**
 * An hour is left alone this many times as long as its last build took, so that calls that come with short rests
 * do not have its last piece written anew after each.
 */
const SPARED_TIMES = 20
/** Limit: hours of one look. */
const LOOK_HOURS_MAX = 256
/** Limit: bytes of columns that one commit writes, so that it stays short. */
const WRITE_BYTES_MAX = 512 * 1024
/** Limit: entries of a piece, and its rows of usage. */
const PIECE_ROWS_MAX = 2 ** 17

export interface SegmentBuilder {
  /**
   * Builds what stands in no piece now, at rest or not.
   *
   * @returns how many pieces were written
   */
  buildAll(): Promise<number>
  /** Ends the work at the next piece. */
  close(): Promise<void>
}

interface SegmentBuilderOptions {
  /** For what is read here. */
  readonly db: Connection
  readonly writes: Writes
  /** A pool of its own, which the builder closes. */
  readonly reads: ReadPool
  /** Whether it looks for work by itself, without keeping the process alive. */
  readonly isAutomatic: boolean
  /** Limit: entries of a piece, and its rows of usage. */
  readonly pieceRowsMax?: number
}

interface UnbuiltHour {
  readonly hour_key: number
  readonly revision: number
  readonly pending: number
}

export function createSegmentBuilder(options: SegmentBuilderOptions): SegmentBuilder {
  const { db, writes, reads, pieceRowsMax = PIECE_ROWS_MAX } = options
  const selectUnbuilt = db.prepare(SELECT_UNBUILT_HOURS)
  const closing = new AbortController()
  const caller = { keyId: '', project_id: '', signal: closing.signal }
  let seen: ReadonlyMap<number, number> | null = null
  /** Hours that were built of late, and until when they are left alone, by `performance.now()`. */
  const spared = new Map<number, number>()
  let lastKey = 0
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function findUnbuilt(after_key: number): UnbuiltHour[] {
    return selectUnbuilt.all({ after_key, limit: LOOK_HOURS_MAX }) as UnbuiltHour[]
  }

  /** Builds all pieces of an hour, as it was when each was begun. @returns how many were written */
  async function build({ hour_key }: UnbuiltHour): Promise<number> {
    let from: BuildInput['from'] = null
    for (let written = 0; ; written++) {
      if (closing.signal.aborted) return written
      const input: BuildInput = { hour_key, pieceRowsMax, from }
      const built: BuildResult = await reads.run('build_segment', input, caller)
      if (built === null || built === 'broken') {
        if (built) await writes.run('spoil_hours', [hour_key])
        return written
      }
      if (!(await writePiece(writes, built))) return written
      from = built.rest
      if (built.isLast) return written + 1
    }
  }

  /** Looks at the next hours, round and round, each time twice; those that did not change in between are built. */
  async function look(): Promise<void> {
    if (!db.open) return
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
    lastKey = unbuilt.length < LOOK_HOURS_MAX ? 0 : (unbuilt.at(-1)?.hour_key ?? 0)
    for (const hour of due) {
      if (closing.signal.aborted) return
      const startedMs = performance.now()
      await build(hour)
      const endedMs = performance.now()
      const tookMs = endedMs - startedMs
      spared.set(hour.hour_key, endedMs + tookMs * SPARED_TIMES)
      // Half of the time belongs to those who wait for an answer.
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
    }, LOOK_EVERY_MS).unref()
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

/** @returns whether the piece stands; false when the hour has been built or rewritten since it was read */
async function writePiece(writes: Writes, built: BuiltPiece): Promise<boolean> {
  const { head, ...piece } = built
  const batches = inBatches(built.columns)
  for (const [index, columns] of batches.entries()) {
    const isLast = index === batches.length - 1
    const batch = { ...piece, columns, isFirst: index === 0, head: isLast ? head : null }
    if (!(await writes.run('put_segment', batch))) return false
  }
  return true
}

/** At least one. */
function inBatches(columns: BuiltPiece['columns']): BuiltPiece['columns'][] {
  const batches: BuiltPiece['columns'][number][][] = [[]]
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

/** A look that was refused, because the store is full or closes, is taken up again at the next one. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}

/** Leaves no listener behind: the signal lives as long as the process. */
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
