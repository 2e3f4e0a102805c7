/** Sums threads up from their turns. Pure. Spec: §2.5 thread_id, turn_id. */
import type { ThreadSchema, ThreadsQueryRequest } from '../../schemas/threads/thread.ts'
import { renderTimestamp, timestampUs } from '../../schemas/timestamp.ts'
import { createOrderStatistics } from '../stats/order-statistics.ts'

/** A call that is a turn. Times in microseconds. */
export interface Turn {
  readonly id: string
  readonly started_at_us: number
  readonly ended_at_us: number | null
}

/** Times in microseconds, durations in milliseconds. */
export interface ThreadSums {
  readonly thread_id: string
  readonly turn_count: number
  readonly start_time: number
  readonly last_updated: number
  readonly first_turn_id: string
  readonly last_turn_id: string
  readonly p50_turn_duration_ms: number | null
  readonly p99_turn_duration_ms: number | null
}

/** The threads of a listing and their order. Plain data. */
export interface ThreadListing {
  readonly project_id: string
  /** Null: all. */
  readonly thread_ids: readonly string[] | null
  readonly after_us: number
  readonly before_us: number
  readonly sort_by: NonNullable<ThreadsQueryRequest['sort_by']>
  readonly offset: number
  readonly limit: number
}

const US_PER_MS = 1000

export function resolveThreadListing(request: ThreadsQueryRequest): ThreadListing {
  const { project_id, filter, limit, offset, sort_by } = request
  const { after_datetime, before_datetime, thread_ids } = filter ?? {}
  const isSorted = sort_by && sort_by.length > 0
  return {
    project_id,
    thread_ids: thread_ids && thread_ids.length > 0 ? [...new Set(thread_ids)] : null,
    after_us: after_datetime ? timestampUs(after_datetime) : Number.NEGATIVE_INFINITY,
    before_us: before_datetime ? timestampUs(before_datetime) : Number.POSITIVE_INFINITY,
    sort_by: isSorted ? sort_by : [{ field: 'last_updated', direction: 'desc' }],
    offset: offset ?? 0,
    limit: limit ?? Number.POSITIVE_INFINITY,
  }
}

/** Whether a listing begins with the most recently updated threads, and is limited. */
export function wantsNewest({ thread_ids, sort_by, limit }: ThreadListing): boolean {
  const [first] = sort_by
  const isNewestFirst = first?.field === 'last_updated' && first.direction === 'desc'
  return thread_ids === null && isNewestFirst && Number.isFinite(limit)
}

/** Adds the turns of one thread up. */
export function createThreadSums(thread_id: string) {
  const durations = createOrderStatistics()
  let [turns, ended] = [0, 0]
  let first: Turn | null = null
  let last: Turn | null = null
  return {
    thread_id,
    add(turn: Turn): void {
      turns += 1
      if (first === null || turn.started_at_us < first.started_at_us) first = turn
      if (last === null || endOf(turn) >= endOf(last)) last = turn
      if (turn.ended_at_us === null) return
      ended += 1
      // Where clocks disagree, the end may come first.
      durations.add(Math.max(0, turn.ended_at_us - turn.started_at_us) / US_PER_MS)
    },
    /** Null for a thread without turns. */
    sums(): ThreadSums | null {
      if (first === null || last === null) return null
      return {
        thread_id,
        turn_count: turns,
        start_time: first.started_at_us,
        last_updated: endOf(last),
        first_turn_id: first.id,
        last_turn_id: last.id,
        p50_turn_duration_ms: ended === 0 ? null : durations.percentile(50),
        p99_turn_duration_ms: ended === 0 ? null : durations.percentile(99),
      }
    },
  }
}

/**
 * Returns the time of the last activity of a turn.
 *
 * Spec: §2.5 ended_at may be null. Choice: a turn that still runs counts by its start.
 */
function endOf({ started_at_us, ended_at_us }: Turn): number {
  return ended_at_us ?? started_at_us
}

export function renderThread({ start_time, last_updated, ...sums }: ThreadSums): ThreadSchema {
  return {
    ...sums,
    start_time: renderTimestamp(start_time),
    last_updated: renderTimestamp(last_updated),
  }
}
