/** Defaults of the fields of scorers. Without Zod, which the threads of the store need not load. */
import type { FEEDBACK_SCORES } from './feedback-scores.ts'

/** Default of each field. */
export const SCORE_DEFAULTS = {
  scorer_tags: [],
  scorer_tag_reasons: {},
  scorer_tag_confidences: {},
  scorer_ratings: {},
  scorer_rating_reasons: {},
  scorer_rating_confidences: {},
  scorer_trace_id: '',
  span_agent_name: '',
  span_agent_version: '',
  span_conversation_id: '',
  span_status_code: 'UNSET',
  span_trace_id: '',
} as const satisfies Record<keyof typeof FEEDBACK_SCORES, unknown>

export type ScoreField = keyof typeof FEEDBACK_SCORES
export const SCORE_FIELDS = Object.keys(SCORE_DEFAULTS) as ScoreField[]
