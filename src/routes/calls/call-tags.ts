/** Tags of calls; an addition to the spec. */
import type { FastifyRequest } from 'fastify'
import { requireAccess } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { callRef } from '../../domain/calls/call-ref.ts'
import { TAG } from '../../domain/feedback/feedback-rules.ts'
import type { FeedbackRow } from '../../domain/feedback/feedback-view.ts'
import { resolveTags } from '../../domain/feedback/tags.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { CallsTagRequest, CallsTagResponse } from '../../schemas/calls/call-tags.ts'
import type { CallDeletion } from '../../store/api/calls/calls.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

interface CallTagRoutesOptions extends Pick<Stores, 'audit' | 'feedback'>, Pick<Clock, 'nowUs'> {
  readonly refScheme: string
}

/** Limit: calls whose tags are deleted in one write. */
const DELETED_CALLS = 1000
/** Limit: calls whose feedback is read at once. */
const READ_CALLS = 100

export async function callTagRoutes(
  app: App,
  { audit, feedback, nowUs, refScheme }: CallTagRoutesOptions,
): Promise<void> {
  app.post(
    '/calls/tag',
    {
      schema: {
        tags: ['calls'],
        operationId: 'tagCalls',
        summary: 'Add tags to calls and remove others (addition to the spec).',
        description: `A tag is feedback of the type \`${TAG}\` with the payload \`{"tag": "<name>"}\`, by which calls and feedback can be queried. Calls that do not exist yet can be tagged.`,
        body: CallsTagRequest,
        response: { 200: CallsTagResponse },
      },
    },
    async (request, reply) => {
      const { project_id, call_ids, add, remove } = request.body
      const { svc_user_id } = requireAccess(request.principal, 'traces:write', project_id)
      const refs = [...new Set(call_ids)].map((id) => callRef(refScheme, project_id, id))
      const change = { project_id, refs, add: add ?? [], remove: remove ?? [] }
      const about = await listTags(refs, openReadCaller(request, reply, project_id), feedback)
      const { added, removed } = resolveTags(change, about, { svc_user_id, created_at_us: nowUs() })
      const [before, after] = [{ tags: change.remove }, { tags: change.add, call_ids }]
      await recordBefore(audit, request, { action: 'calls.tag', project_id, before, after })
      if (removed.length > 0) await feedback.purgeFeedback(project_id, removed)
      const stored = await feedback.createFeedbackBatch(added)
      for (const one of stored) if (one instanceof ApiError) throw one
      return { added_count: added.length, removed_count: removed.length }
    },
  )
}

/** The feedback about each of the refs that tags it. Read in parts, since calls may have much other feedback. */
async function listTags(
  refs: readonly string[],
  caller: ReadCaller,
  feedback: Stores['feedback'],
): Promise<FeedbackRow[][]> {
  const found: FeedbackRow[][] = []
  for (let at = 0; at < refs.length; at += READ_CALLS) {
    const about = await feedback.listAbout(refs.slice(at, at + READ_CALLS), caller)
    found.push(...about.map((rows) => rows.filter(({ feedback_type }) => feedback_type === TAG)))
  }
  return found
}

export interface CallDeleter extends Pick<Stores, 'audit' | 'calls' | 'feedback'> {
  /** Scheme of the refs by which tags name their calls. */
  readonly refScheme: string
}

/**
 * Deletes calls with their descendants, and the tags of all of them, with an entry in the audit list. The request is
 * authorized.
 *
 * @returns the number of deleted calls
 */
export async function deleteTaggedCalls(
  deleter: CallDeleter,
  request: FastifyRequest,
  deletion: CallDeletion,
): Promise<number> {
  const { project_id, ids } = deletion
  const before = { call_ids: ids }
  await recordBefore(deleter.audit, request, { action: 'calls.delete', project_id, before })
  return deleteWithTags(deleter, deletion)
}

/** Deletes as deleteTaggedCalls does, without an entry in the audit list: the caller has made one. */
export async function deleteWithTags(
  { calls, feedback, refScheme }: Omit<CallDeleter, 'audit'>,
  deletion: CallDeletion,
): Promise<number> {
  const { project_id, ids } = deletion
  const deleted = await calls.deleteCalls(deletion)
  // Also of those that an earlier request deleted, which may have ended before their tags were.
  const refs = [...new Set([...ids, ...deleted])].map((id) => callRef(refScheme, project_id, id))
  for (let at = 0; at < refs.length; at += DELETED_CALLS)
    await feedback.purgeAbout(project_id, TAG, refs.slice(at, at + DELETED_CALLS))
  return deleted.length
}
