/** The value that feedback gives to what it is about: a pass, a number or a word. Pure. */
import { scoreValueOf } from '../evaluators/score.ts'
import { isObject } from '../json/is-object.ts'
import { REACTION } from './feedback-rules.ts'
import type { FeedbackRow } from './feedback-view.ts'

/** Type of the results of evaluators, before their name. */
export const RUNNABLE = 'wandb.runnable.'
/** The rating that scorers send without a name of their own. */
const RATING = '_rating_'
const THUMBS: Readonly<Record<string, boolean>> = { '👍': true, '👎': false }

export type Rating = boolean | number | string

type Rated = Pick<FeedbackRow, 'feedback_type' | 'payload_json' | 'scores_json'>

/**
 * Returns the rating in feedback; null for notes, other reactions, and what has none. A thumb is a pass or a failure;
 * an evaluator's result has `score` or `passed`; annotations and numbers have a `value`.
 */
export function readRating({ feedback_type, payload_json, scores_json }: Rated): Rating | null {
  const payload: unknown = JSON.parse(payload_json ?? 'null')
  if (!isObject(payload)) return null
  if (feedback_type.startsWith(REACTION)) {
    const { detoned, emoji } = payload
    return THUMBS[String(detoned ?? emoji)] ?? null
  }
  const { output, value } = payload
  const given = isObject(output) ? scoreValueOf(output) : (toRating(output) ?? toRating(value))
  return given ?? ratingIn(scores_json) ?? scoreValueOf(payload)
}

function toRating(value: unknown): Rating | null {
  if (typeof value === 'string') return value === '' ? null : value
  return scoreValueOf({ value })
}

function ratingIn(scores_json: string | null): number | null {
  if (scores_json === null) return null
  const { scorer_ratings: ratings } = JSON.parse(scores_json)
  const rating = isObject(ratings) ? ratings[RATING] : null
  return typeof rating === 'number' ? rating : null
}

/** Returns a rating as a number, 1 for a pass and 0 for a failure; null for words. */
export function numberOf(rating: Rating | null): number | null {
  return typeof rating === 'string' || rating === null ? null : Number(rating)
}
