/** Reads the feedback about the calls that people have rated. */
import type { z } from 'zod'
import type { ReadCaller } from '../domain/access/read-caller.ts'
import { callRef } from '../domain/calls/call-ref.ts'
import { FEEDBACK_FIELDS, type FeedbackRow } from '../domain/feedback/feedback-view.ts'
import { resolveRowQuery } from '../domain/query/row-query.ts'
import { refuseField } from '../errors.ts'
import type { AgreementRequest } from '../schemas/feedback/agreement.ts'
import { Query } from '../schemas/query/query-expression.ts'
import type { Stores } from '../store/api/stores.ts'

/** Limits: calls by default, and refs whose feedback is read at once. */
const CALLS_DEFAULT = 1_000
const REFS_MAX = 200
/** Ratings that are read for one call, at most. */
const RATINGS_PER_CALL = 10

type RatedCalls = Pick<
  AgreementRequest,
  'project_id' | 'queue_id' | 'feedback_types' | 'after' | 'before' | 'limit'
>

export interface RatedOptions {
  readonly stores: Pick<Stores, 'annotation' | 'feedback'>
  readonly refScheme: string
}

/**
 * Returns the feedback about the calls that were rated last, in a queue or with feedback of some types, the oldest of
 * each call first.
 *
 * @throws ApiError annotation_queue_not_found; validation_failed without a queue and a type
 */
export async function readRated(
  chosen: RatedCalls,
  caller: ReadCaller,
  options: RatedOptions,
): Promise<{ readonly feedback: readonly FeedbackRow[]; readonly is_complete: boolean }> {
  const limit = chosen.limit ?? CALLS_DEFAULT
  const refs = chosen.queue_id
    ? await listQueueRefs(chosen, chosen.queue_id, limit + 1, caller, options)
    : await listTypeRefs(chosen, limit + 1, caller, options)
  const kept = refs.slice(0, limit)
  const feedback: FeedbackRow[] = []
  for (let from = 0; from < kept.length; from += REFS_MAX) {
    const part = kept.slice(from, from + REFS_MAX)
    feedback.push(...(await options.stores.feedback.listAbout(part, caller)).flat())
  }
  return { feedback, is_complete: refs.length <= limit }
}

async function listQueueRefs(
  { project_id }: RatedCalls,
  queue_id: string,
  limit: number,
  caller: ReadCaller,
  { stores, refScheme }: RatedOptions,
): Promise<string[]> {
  const begun = ['in_progress', 'completed', 'skipped'] as const
  const sort_by = [{ field: 'updated_at', direction: 'desc' } as const]
  const filter = { annotation_states: [...begun] }
  const listing = { project_id, queue_id, filter, sort_by, limit }
  const items = await stores.annotation.listItems(listing, caller)
  return items.map(({ call_id }) => callRef(refScheme, project_id, call_id))
}

async function listTypeRefs(
  { project_id, feedback_types, after, before }: RatedCalls,
  limit: number,
  caller: ReadCaller,
  { stores }: RatedOptions,
): Promise<string[]> {
  if (!feedback_types?.length) refuseField('feedback_types', 'is required without queue_id')
  const operand = (name: string) => ({ $getField: name })
  const created = (time: string) => [operand('created_at'), { $literal: time }]
  const literals = feedback_types.map((type) => ({ $literal: type }))
  const conditions = [
    { $in: [operand('feedback_type'), literals] },
    ...(after ? [{ $gte: created(after) }] : []),
    ...(before ? [{ $not: [{ $gte: created(before) }] }] : []),
  ]
  const query: z.infer<typeof Query> = Query.parse({ $expr: { $and: conditions } })
  const rows = await stores.feedback.queryFeedback(
    project_id,
    resolveRowQuery(
      {
        query,
        fields: ['weave_ref'],
        sort_by: [{ field: 'created_at', direction: 'desc' }],
        limit: Math.min(limit * RATINGS_PER_CALL, 10_000),
      },
      FEEDBACK_FIELDS,
    ),
    caller,
  )
  const refs = rows.rows.map((text) => String(JSON.parse(text).weave_ref))
  return [...new Set(refs)].slice(0, limit)
}
