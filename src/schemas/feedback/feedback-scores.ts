/** The results of a scorer, and the span that it scored. Additions to the spec. */
import { z } from 'zod'
import { boundedMap } from '../bounded-fields.ts'
import { nameOf } from '../primitives.ts'

/** Limit: tags, and names of one map. */
const ENTRIES_MAX = 100
const NAME_MAX = 256
const REASON_MAX = 16_384

const text = nameOf(NAME_MAX).or(z.literal('')).nullish()
const numbers = boundedMap(z.number('must be a number'), { max: ENTRIES_MAX }).nullish()
const reasons = boundedMap(z.string().max(REASON_MAX), { max: ENTRIES_MAX }).nullish()

/** Spec: §2.2 (not shown). Choice: the names of Weave; ratings and confidences may be any numbers. */
export const FEEDBACK_SCORES = {
  scorer_tags: z
    .array(nameOf(NAME_MAX))
    .max(ENTRIES_MAX)
    .nullish()
    .describe('Tags given by a scorer.'),
  scorer_tag_reasons: reasons.describe('Reasons, by tag.'),
  scorer_tag_confidences: numbers.describe('Confidence, 0 to 1, by tag.'),
  scorer_ratings: numbers.describe('Ratings, 0 to 1, by name.'),
  scorer_rating_reasons: reasons.describe('Reasons, by name of the rating.'),
  scorer_rating_confidences: numbers.describe('Confidence, 0 to 1, by name of the rating.'),
  scorer_trace_id: text.describe('Trace in which the scorer ran.'),
  span_agent_name: text.describe('Agent that was scored.'),
  span_agent_version: text.describe('Its version.'),
  span_conversation_id: text.describe('Conversation that was scored.'),
  span_status_code: text.describe('Status of the turn that was scored.'),
  span_trace_id: text.describe('Turn that was scored.'),
}
