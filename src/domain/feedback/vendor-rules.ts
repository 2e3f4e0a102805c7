/** The vendor's rules for the refs and scores of each type of feedback. Pure. */
import { refuseField } from '../../errors.ts'
import type { FeedbackCreateRequest } from '../../schemas/feedback/feedback.ts'
import { parseRef } from '../objects/refs.ts'

const MONITOR = 'wandb.agent_monitor'
const USER_FEEDBACK = 'wandb.agent_user_feedback'

const RUN_REFS = ['runnable_ref', 'call_ref', 'trigger_ref'] as const
const SCORES = [
  'scorer_tags',
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
] as const

const KINDS = {
  annotation_ref: ['object'],
  runnable_ref: ['object', 'op'],
  call_ref: ['call'],
  trigger_ref: ['object'],
} as const

/**
 * Refuses what the vendor's server refuses, in addition to the rules that hold everywhere.
 *
 * Spec: §2.2 (which refs go with which type is not shown). Choice: at `/` any feedback may carry any ref; the vendor's
 * rules hold where its clients send.
 *
 * @throws ApiError validation_failed, param is the field at fault
 */
export function requireVendorRules(feedback: FeedbackCreateRequest): void {
  const { feedback_type } = feedback
  const isAnnotation = feedback_type.startsWith('wandb.annotation')
  const isRunnable = feedback_type.startsWith('wandb.runnable')
  if (!isAnnotation) refuseGiven(feedback, ['annotation_ref'], 'wandb.annotation')
  if (feedback_type === MONITOR) requireGiven(feedback, RUN_REFS)
  else if (!isAnnotation && !isRunnable) refuseGiven(feedback, RUN_REFS, 'wandb.runnable')
  const mayScore = isRunnable || feedback_type === MONITOR || feedback_type === USER_FEEDBACK
  if (!mayScore) refuseGiven(feedback, SCORES, `wandb.runnable, ${MONITOR} and ${USER_FEEDBACK}`)
  if (feedback_type === USER_FEEDBACK) requireGiven(feedback, ['scorer_tags'])
  for (const [field, kinds] of Object.entries(KINDS)) {
    const ref = feedback[field as keyof typeof KINDS] ?? null
    const kind = ref === null ? null : parseRef(ref)?.kind
    if (kind === null || kinds.some((name) => name === kind)) continue
    refuseField(field, `must be a ref of an ${kinds.join(' or ')}`.replace('an call', 'a call'))
  }
}

type Field = keyof FeedbackCreateRequest

function requireGiven(feedback: FeedbackCreateRequest, fields: readonly Field[]): void {
  for (const field of fields) {
    if (!isGiven(feedback[field])) refuseField(field, 'is required for this type')
  }
}

function refuseGiven(
  feedback: FeedbackCreateRequest,
  fields: readonly Field[],
  types: string,
): void {
  for (const field of fields) {
    if (isGiven(feedback[field])) refuseField(field, `goes with feedback of ${types} only`)
  }
}

/** Whether a value is present; empty lists and maps are not. */
function isGiven(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}
