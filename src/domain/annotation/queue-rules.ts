/** Rules that add calls to annotation queues by themselves. Pure. */
import type { QueueRules } from '../../schemas/annotation/queue-rules.ts'
import { REACTION } from '../feedback/feedback-rules.ts'
import type { FeedbackRow } from '../feedback/feedback-view.ts'
import { numberOf, RUNNABLE, readRating } from '../feedback/rating.ts'
import { parseLossless } from '../json/json-text.ts'
import { parseRef } from '../objects/refs.ts'
import type { AnnotationQueue } from './annotation-queue.ts'

/** Limit: queues of a project that have rules. */
export const RULED_QUEUES_MAX = 100

type RuleName = 'random' | 'thumbs_down' | 'scores' | 'disagreement'

/** Between a call and the feedback about it in the name of a task; ids may have spaces, but no line breaks. */
const SEPARATOR = '\n'

export function rulesOf({ rules_json }: Pick<AnnotationQueue, 'rules_json'>): QueueRules | null {
  return rules_json === null ? null : (parseLossless(rules_json) as QueueRules)
}

/** Whether rules can add a call; without that they are not stored. */
export function hasRule({ random, thumbs_down, scores, disagreement }: QueueRules): boolean {
  return Boolean(random || thumbs_down || scores?.length || disagreement)
}

/** The share of new traces that rules add, from 0 to 1. */
export function shareOf(queue: Pick<AnnotationQueue, 'rules_json'>): number {
  return rulesOf(queue)?.random ?? 0
}

/** The user that a call is added by, as items show it. */
export function adderOf(rule: RuleName): string {
  return `rule:${rule}`
}

/** Returns the name of the task for new feedback, or null where no rule is about it. */
export function feedbackTask(rules: QueueRules, feedback: FeedbackRow): string | null {
  const { thumbs_down, scores, disagreement } = rules
  const { feedback_type, weave_ref, id, project_id } = feedback
  const isWanted =
    (thumbs_down && feedback_type.startsWith(REACTION)) ||
    scores?.some((score) => score.feedback_type === feedback_type) ||
    (disagreement && feedback_type.startsWith(RUNNABLE))
  const ref = isWanted ? parseRef(weave_ref) : null
  if (ref?.kind !== 'call' || ref.project_id !== project_id) return null
  const isMet =
    isOutside(rules, feedback) ||
    (disagreement && feedback_type.startsWith(RUNNABLE)) ||
    isThumbsDown(rules, feedback)
  return isMet ? `${ref.name}${SEPARATOR}${id}` : null
}

/** Returns the call of a task, and whether it was queued for feedback about it. */
export function readTask(subject_id: string): { call_id: string; isOfFeedback: boolean } {
  const [call_id = '', feedback] = subject_id.split(SEPARATOR)
  return { call_id, isOfFeedback: feedback !== undefined }
}

/**
 * Returns the rule that adds a call for the feedback about it, or null.
 *
 * @param feedback - about the call, the oldest first
 */
export function findRule(rules: QueueRules, feedback: readonly FeedbackRow[]): RuleName | null {
  if (feedback.some((one) => isThumbsDown(rules, one))) return 'thumbs_down'
  if (feedback.some((one) => isOutside(rules, one))) return 'scores'
  return isDisputed(rules, feedback) ? 'disagreement' : null
}

function isThumbsDown({ thumbs_down }: QueueRules, feedback: FeedbackRow): boolean {
  if (!thumbs_down || !feedback.feedback_type.startsWith(REACTION)) return false
  return readRating(feedback) === false
}

function isOutside({ scores }: QueueRules, feedback: FeedbackRow): boolean {
  const bounds = (scores ?? []).filter(
    ({ feedback_type }) => feedback_type === feedback.feedback_type,
  )
  const score = bounds.length === 0 ? null : numberOf(readRating(feedback))
  if (score === null) return false
  return bounds.some(
    ({ below, above }) => score < (below ?? -Infinity) || score > (above ?? Infinity),
  )
}

function isDisputed({ disagreement }: QueueRules, feedback: readonly FeedbackRow[]): boolean {
  if (!disagreement) return false
  const { evaluators, difference } = disagreement
  const newest = new Map<string, number>()
  for (const one of feedback) {
    if (!one.feedback_type.startsWith(RUNNABLE)) continue
    const name = one.feedback_type.slice(RUNNABLE.length)
    if (evaluators?.length && !evaluators.includes(name)) continue
    const score = numberOf(readRating(one))
    if (score !== null) newest.set(name, score)
  }
  const scores = [...newest.values()]
  return scores.length > 1 && Math.max(...scores) - Math.min(...scores) >= difference
}
