/**
 * Threads on the wire: conversations, by the calls that are their turns.
 *
 * Spec: §2.5 thread_id, turn_id (lists of threads are an addition). Choice: the route and fields of the public
 * tracing clients.
 */

import { z } from 'zod'
import { ClientId, ProjectId, Time, Timestamp } from '../primitives.ts'
import { orderOf } from '../query/query-expression.ts'

/** Limit: threads named by a filter. */
const THREAD_IDS_MAX = 1000

const THREAD_SORT_FIELDS = [
  'thread_id',
  'turn_count',
  'start_time',
  'last_updated',
  'p50_turn_duration_ms',
  'p99_turn_duration_ms',
] as const

const whole = z.int().min(0).nullish()

export const ThreadsQueryRequest = z.strictObject({
  project_id: ProjectId,
  filter: z
    .strictObject({
      after_datetime: Timestamp.nullish().describe('Only threads whose start_time is later.'),
      before_datetime: Timestamp.nullish().describe('Only threads whose last_updated is earlier.'),
      thread_ids: z.array(ClientId).max(THREAD_IDS_MAX).nullish().describe('Only these threads.'),
    })
    .nullish()
    .describe('Which threads; all when absent.'),
  limit: whole.describe('Maximum number of threads. Default: all.'),
  offset: whole.describe('Number of threads to skip. Default 0.'),
  sort_by: orderOf(THREAD_SORT_FIELDS).describe(
    'Order; threads without the field are last. Default: descending by last_updated.',
  ),
})
export type ThreadsQueryRequest = z.infer<typeof ThreadsQueryRequest>

export const ThreadSchema = z
  .object({
    thread_id: z.string().describe('Id of the thread.'),
    turn_count: z.int().describe('Number of its turns: calls whose id is their turn_id.'),
    start_time: Time.describe('When the first turn began, UTC.'),
    last_updated: Time.describe('When the last turn ended, or began if none has ended, UTC.'),
    first_turn_id: z.string().nullable().describe('The turn that began first.'),
    last_turn_id: z.string().nullable().describe('The turn that ended last.'),
    p50_turn_duration_ms: z
      .number()
      .nullable()
      .describe('Median of the durations of turns, milliseconds; null when none has ended.'),
    p99_turn_duration_ms: z.number().nullable().describe('99th percentile of the same.'),
  })
  .meta({ id: 'ThreadSchema', description: 'A thread, summed up from its turns.' })
export type ThreadSchema = z.infer<typeof ThreadSchema>
