/** Tags of calls: each is feedback of one type, with the tag in its payload. Pure. */
import { refuseField } from '../../errors.ts'
import { hashedUuid } from '../objects/hashed-uuid.ts'
import { TAG } from './feedback-rules.ts'
import type { FeedbackRow } from './feedback-view.ts'
import { type Feedback, resolveFeedback } from './new-feedback.ts'

/** Limit: tags of a call. */
const TAGS_MAX = 50

interface TagChange {
  readonly project_id: string
  /** Refs of the calls, each once. */
  readonly refs: readonly string[]
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

interface TagWrites {
  readonly added: readonly Feedback[]
  /** Ids of feedback. */
  readonly removed: readonly string[]
}

/**
 * Resolves a change of tags to the feedback to store and to delete. The id of a tag is made of the call and the tag, so
 * that two clients that add it at once store it once.
 *
 * @param about - the feedback about each of the refs
 * @param defaults - who adds the tags, and when
 * @throws ApiError validation_failed, param `remove` for a tag that is also added, `add` for too many tags of a call
 */
export function resolveTags(
  { project_id, refs, add, remove }: TagChange,
  about: readonly (readonly FeedbackRow[])[],
  defaults: Pick<Feedback, 'svc_user_id' | 'created_at_us'>,
): TagWrites {
  const [adding, removing] = [new Set(add), new Set(remove)]
  if (remove.some((tag) => adding.has(tag))) refuseField('remove', 'has a tag that add has, too')
  const added: Feedback[] = []
  const removed: string[] = []
  for (const [index, weave_ref] of refs.entries()) {
    const known = new Map((about[index] ?? []).flatMap((row) => tagOf(row, row.id)))
    const tags = new Set(known.values())
    for (const [id, tag] of known) if (removing.has(tag)) removed.push(id)
    const left = [...new Set([...tags, ...adding])].filter((tag) => !removing.has(tag))
    if (adding.size > 0 && left.length > TAGS_MAX)
      refuseField('add', `would give a call more than ${TAGS_MAX} tags`)
    for (const tag of adding) {
      if (tags.has(tag)) continue
      const id = hashedUuid([weave_ref, tag])
      const request = { project_id, weave_ref, feedback_type: TAG, payload: { tag } }
      added.push(resolveFeedback(request, { id, ...defaults }, Number.POSITIVE_INFINITY))
    }
  }
  return { added, removed }
}

/** The id and the tag, if the feedback is a tag. */
function tagOf({ feedback_type, payload_json }: FeedbackRow, id: string): [string, string][] {
  if (feedback_type !== TAG) return []
  const { tag } = JSON.parse(payload_json ?? '{}')
  return typeof tag === 'string' ? [[id, tag]] : []
}
