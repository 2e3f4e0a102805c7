/** Reads the feedback about the calls that people have rated. */
import type { z } from 'zod'
import type { ReadCaller } from '../domain/access/read-caller.ts'
import { callRef } from '../domain/calls/call-ref.ts'
import { FEEDBACK_FIELDS, type FeedbackRow } from '../domain/feedback/feedback-view.ts'
import { parseRef } from '../domain/objects/refs.ts'
import { resolveRowQuery } from '../domain/query/row-query.ts'
import { refuseField } from '../errors.ts'
import type { AgreementRequest } from '../schemas/feedback/agreement.ts'
import { Query } from '../schemas/query/query-expression.ts'
import { FEEDBACK_ABOUT_MAX } from '../store/api/feedback/feedback.ts'
import type { Stores } from '../store/api/stores.ts'

/** Limits: calls by default, and refs whose feedback is read at once. */
const CALLS_DEFAULT = 1_000
const REFS_MAX = 200
/** Limits: ratings that are read to find the calls, for each of them and altogether. */
const RATINGS_PER_CALL = 10
const RATINGS_MAX = 10_000

type RatedCalls = Pick<
  AgreementRequest,
  'project_id' | 'queue_id' | 'feedback_types' | 'after' | 'before' | 'limit'
>

export interface RatedOptions {
  readonly stores: Pick<Stores, 'annotation' | 'feedback'>
  readonly refScheme: string
}

/** Calls by their refs, those rated last first. */
interface FoundCalls {
  readonly refs: readonly string[]
  /** Whether there are no others. */
  readonly areAll: boolean
}

/**
 * Returns the feedback about the calls that were rated last, in a queue or with feedback of some types, the oldest of
 * each call first.
 *
 * @returns is_complete: whether no limit has left out a call or a rating
 * @throws ApiError annotation_queue_not_found; validation_failed without a queue and a type
 */
export async function readRated(
  chosen: RatedCalls,
  caller: ReadCaller,
  options: RatedOptions,
): Promise<{ readonly feedback: readonly FeedbackRow[]; readonly is_complete: boolean }> {
  const limit = chosen.limit ?? CALLS_DEFAULT
  const { refs, areAll } = chosen.queue_id
    ? await findQueueCalls(chosen, chosen.queue_id, limit, caller, options)
    : await findTypeCalls(chosen, limit, caller, options)
  const feedback: FeedbackRow[] = []
  let is_complete = areAll
  for (let from = 0; from < refs.length; from += REFS_MAX) {
    const part = refs.slice(from, from + REFS_MAX)
    for (const about of await options.stores.feedback.listAbout(part, caller)) {
      feedback.push(...about)
      if (about.length === FEEDBACK_ABOUT_MAX) is_complete = false
    }
  }
  return { feedback, is_complete }
}

async function findQueueCalls(
  { project_id }: RatedCalls,
  queue_id: string,
  limit: number,
  caller: ReadCaller,
  { stores, refScheme }: RatedOptions,
): Promise<FoundCalls> {
  const begun = ['in_progress', 'completed', 'skipped'] as const
  const sort_by = [{ field: 'updated_at', direction: 'desc' } as const]
  const filter = { annotation_states: [...begun] }
  const listing = { project_id, queue_id, filter, sort_by, limit: limit + 1 }
  const items = await stores.annotation.listItems(listing, caller)
  const refs = items.map(({ call_id }) => callRef(refScheme, project_id, call_id))
  return { refs: refs.slice(0, limit), areAll: refs.length <= limit }
}

async function findTypeCalls(
  { project_id, feedback_types, after, before }: RatedCalls,
  limit: number,
  caller: ReadCaller,
  { stores }: RatedOptions,
): Promise<FoundCalls> {
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
  const ratingsMax = Math.min((limit + 1) * RATINGS_PER_CALL, RATINGS_MAX)
  const { rows } = await stores.feedback.queryFeedback(
    project_id,
    resolveRowQuery(
      {
        query,
        fields: ['weave_ref'],
        sort_by: [{ field: 'created_at', direction: 'desc' }],
        limit: ratingsMax,
      },
      FEEDBACK_FIELDS,
    ),
    caller,
  )
  const all = new Set(rows.map((text) => String(JSON.parse(text).weave_ref)))
  const refs = [...all].filter((ref) => isCallOf(project_id, ref))
  return { refs: refs.slice(0, limit), areAll: refs.length <= limit && rows.length < ratingsMax }
}

/** Feedback may also be about objects, and about calls of other projects. */
function isCallOf(project_id: string, weave_ref: string): boolean {
  const ref = parseRef(weave_ref)
  return ref?.kind === 'call' && ref.project_id === project_id
}
