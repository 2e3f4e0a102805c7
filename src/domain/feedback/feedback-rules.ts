/** Rules that some feedback types add to the schema of all feedback. Pure. */
import { refuseField } from '../../errors.ts'
import type { FeedbackCreateRequest } from '../../schemas/feedback/feedback.ts'
import { isTag, TAG_RULE } from '../../schemas/shapes.ts'
import { parseRef } from '../objects/refs.ts'
import { isOneEmoji } from './emoji.ts'

const NOTE_CHARACTERS_MAX = 1024

/** Type of the feedback that tags a call. */
export const TAG = 'weft.tag'

/** Prefix of the types of reactions. */
export const REACTION = 'wandb.reaction'

type Rule = (feedback: FeedbackCreateRequest, prefix: string) => void

/** A type is under a rule when it begins with the rule's name. */
const RULES: Readonly<Record<string, Rule>> = {
  [REACTION]: requireReaction,
  'wandb.note': requireNote,
  'wandb.annotation': requireAnnotation,
  'wandb.runnable': requireRunnable,
  [TAG]: requireTag,
}

/**
 * Refuses feedback that breaks the rule of its type. Types without a rule may carry anything, refs included.
 *
 * @throws ApiError validation_failed, param is the field at fault as `payload.emoji`
 *
 * Spec: §2.2 feedback_type (free string). Choice: the reserved types of Weave are checked as Weave does,
 * except that an annotation's value is not held against its annotation spec, which is not stored here.
 * Refs other than an annotation's may point into another project.
 */
export function requireFeedbackRules(feedback: FeedbackCreateRequest): void {
  for (const [prefix, rule] of Object.entries(RULES)) {
    if (feedback.feedback_type.startsWith(prefix)) rule(feedback, prefix)
  }
}

function requireReaction({ payload }: FeedbackCreateRequest): void {
  const emoji = requirePayload(payload, 'emoji')
  if (typeof emoji !== 'string' || !isOneEmoji(emoji))
    refuseField('payload.emoji', 'must be one emoji')
}

function requireNote({ payload }: FeedbackCreateRequest): void {
  const note = requirePayload(payload, 'note')
  if (typeof note !== 'string' || note === '' || [...note].length > NOTE_CHARACTERS_MAX) {
    refuseField('payload.note', `must be a text of 1 to ${NOTE_CHARACTERS_MAX} characters`)
  }
}

function requireAnnotation(feedback: FeedbackCreateRequest, prefix: string): void {
  requireNamedRef(feedback, prefix, 'annotation_ref')
  const ref = parseRef(feedback.annotation_ref ?? '')
  if (ref?.project_id !== feedback.project_id) {
    refuseField('annotation_ref', 'must belong to the project of the feedback')
  }
  requirePayload(feedback.payload, 'value')
}

function requireRunnable(feedback: FeedbackCreateRequest, prefix: string): void {
  requireNamedRef(feedback, prefix, 'runnable_ref')
  const isOp = parseRef(feedback.runnable_ref ?? '')?.kind === 'op'
  if (isOp && (feedback.call_ref ?? null) === null) {
    refuseField('call_ref', 'is required with a runnable_ref of an op')
  }
  requirePayload(feedback.payload, 'output')
}

function requireTag({ feedback_type, payload }: FeedbackCreateRequest): void {
  if (feedback_type !== TAG) return
  const tag = requirePayload(payload, 'tag')
  if (typeof tag !== 'string' || !isTag(tag)) refuseField('payload.tag', TAG_RULE)
}

/** The type is `<prefix>.<name>`, and the ref's name is that name. */
function requireNamedRef(
  feedback: FeedbackCreateRequest,
  prefix: string,
  field: 'annotation_ref' | 'runnable_ref',
): void {
  const { feedback_type } = feedback
  const name = feedback_type.slice(prefix.length + 1)
  if (feedback_type[prefix.length] !== '.' || name === '') {
    refuseField('feedback_type', `must be ${prefix}.<name>`)
  }
  const ref = feedback[field] ?? null
  if (ref === null) refuseField(field, 'is required for this type')
  if (parseRef(ref)?.name !== name) refuseField(field, 'must have the name that the type ends in')
}

/** The payload's own field; null counts as given. */
function requirePayload(payload: FeedbackCreateRequest['payload'], field: string): unknown {
  if (!Object.hasOwn(payload, field)) refuseField(`payload.${field}`, 'is required for this type')
  return payload[field]
}
