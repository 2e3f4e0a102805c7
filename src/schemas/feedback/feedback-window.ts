/** Selects the feedback of a request. Spec: §4.2. */

import { z } from 'zod'
import { nameOf, ProjectId, Timestamp } from '../primitives.ts'
import { isRefShape } from '../shapes.ts'

const FEEDBACK_TYPE_MAX = 256
const TRIGGER_PATTERN_MAX = 2048

export const FeedbackType = nameOf(FEEDBACK_TYPE_MAX)

/** An object ref, `<ref without digest>:*`, or an object ref without its digest. */
const TriggerPattern = z
  .string()
  .max(TRIGGER_PATTERN_MAX)
  .refine(
    (text) => isRefShape(text, ['object']) || isRefShape(`${text}:*`, ['object']),
    'must be a ref <scheme>:///<entity>/<project>/object/<name>:<digest>, or end in :* for all versions',
  )

/** Spec: §4.2. */
export const FeedbackWindowFields = {
  project_id: ProjectId,
  start: Timestamp.describe('Inclusive start of the window on created_at; no offset means UTC.'),
  end: Timestamp.nullish().describe('Exclusive end of the window; now when absent.'),
  feedback_type: FeedbackType.nullish().describe('Only feedback of exactly this type.'),
  trigger_ref: TriggerPattern.nullish().describe(
    'Only feedback with this trigger_ref; `<name>:*`, or no digest, means all versions.',
  ),
}
