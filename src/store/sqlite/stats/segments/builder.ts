/**
 * Builds the segments of hours that have come to rest. The work is done in a thread of its own, which
 * reads; what it made is written by the writer, and only while the hour is as it was read. A crash
 * loses nothing: what has no segment is still marked, and is built after the next start.
 */
import { ApiError } from '../../../../errors.ts'
import type { Connection } from '../../db/connection.ts'
import type { ReadPool } from '../../read/read-pool.ts'
import type { Writes } from '../../write/writes.ts'
import type { BuiltHour } from './build-job.ts'
import * as SQL from './segments.sql.ts'

/** An hour that has not changed from one look to the next has come to rest. */
const LOOK_EVERY_MS = 2000
/**
 * An hour is left alone this many times as long as its last build took: calls that come with short rests would
 * otherwise have all of a full hour read anew after each.
 */
const SPARED_TIMES = 20
/** Limit: hours of one look. */
const LOOK_HOURS_MAX = 256
/** Limit: bytes of columns that one commit writes, so that it stays short. */
const WRITE_BYTES_MAX = 512 * 1024

export interface SegmentBuilder {
  /**
   * Builds what has no segment now, at rest or not.
   *
   * @returns how many segments were written
   */
  buildAll(): Promise<number>
  /** Ends the work at the next hour. */
  close(): Promise<void>
}

export interface SegmentBuilderOptions {
  /** For what is read here. */
  readonly db: Connection
  readonly writes: Writes
  /** A pool of its own, which the builder closes. */
  readonly reads: ReadPool
  /** Whether it looks for work by itself, without keeping the process alive. */
  readonly isAutomatic: boolean
}

interface DirtyHour {
  readonly hour_key: number
  readonly revision: number
}

export function createSegmentBuilder(options: SegmentBuilderOptions): SegmentBuilder {
  const { db, writes, reads } = options
  const selectDirty = db.prepare(SQL.SELECT_DIRTY_HOURS)
  const closing = new AbortController()
  let seen: ReadonlyMap<number, number> | null = null
  /** Hours that were built of late, and until when they are left alone, by `performance.now()`. */
  const spared = new Map<number, number>()
  let lastKey = 0
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function findDirty(after_key: number): DirtyHour[] {
    return selectDirty.all({ after_key, limit: LOOK_HOURS_MAX }) as DirtyHour[]
  }

  async function build({ hour_key }: DirtyHour): Promise<boolean> {
    const built = await reads.run('build_segment', { hour_key }, closing.signal)
    return built !== null && (await writeSegment(writes, built))
  }

  /** Looks at the next hours, round and round, each time twice; those that did not change in between are built. */
  async function look(): Promise<void> {
    if (!db.open) return
    const dirty = findDirty(lastKey)
    if (seen === null) {
      seen = new Map(dirty.map(({ hour_key, revision }) => [hour_key, revision]))
      return
    }
    const before = seen
    for (const [key, untilMs] of spared) if (untilMs <= performance.now()) spared.delete(key)
    const resting = dirty.filter(
      ({ hour_key, revision }) => before.get(hour_key) === revision && !spared.has(hour_key),
    )
    seen = null
    lastKey = dirty.length < LOOK_HOURS_MAX ? 0 : (dirty.at(-1)?.hour_key ?? 0)
    for (const hour of resting) {
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
        const dirty = findDirty(after_key)
        for (const hour of dirty) if (await build(hour)) written += 1
        const last = dirty.at(-1)
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

/** @returns whether the segment stands; false when the hour has changed since it was read */
async function writeSegment(writes: Writes, built: BuiltHour): Promise<boolean> {
  const { hour_key, revision } = built
  const pieces = inPieces(built.columns)
  for (const [index, columns] of pieces.entries()) {
    const head = index < pieces.length - 1 ? null : built.head
    const stands = await writes.run('put_segment', { hour_key, revision, columns, head })
    if (!stands) return false
  }
  return true
}

/** At least one. */
function inPieces(columns: BuiltHour['columns']): BuiltHour['columns'][] {
  const pieces: BuiltHour['columns'][number][][] = [[]]
  let bytes = 0
  for (const column of columns) {
    if (bytes > 0 && bytes + column.body.length > WRITE_BYTES_MAX) {
      pieces.push([])
      bytes = 0
    }
    pieces.at(-1)?.push(column)
    bytes += column.body.length
  }
  return pieces
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
