/** How evaluators are named in words, and where they and their results are. Pure. */
import type { EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import type { Scorer } from '../../schemas/evaluators/scorer.ts'
import { formatCost, formatNumber, formatTime } from '../parts/format.ts'
import { pathTo } from '../shell/page-route.ts'

/** What scores: `judge gpt-4o-mini`, `rule contains`, `webhook`. */
export function nameScorer(evaluator: Pick<EvaluatorResponse, 'scorer'>): string {
  const scorer = evaluator.scorer as Scorer
  if (scorer.kind === 'judge') return `judge ${scorer.model}`
  if (scorer.kind === 'webhook') return 'webhook'
  return `rule ${scorer.negate ? 'not ' : ''}${scorer.rule.type}`
}

/** `20 % of calls`. */
export function nameShare({
  sampling,
  target,
}: Pick<EvaluatorResponse, 'sampling' | 'target'>): string {
  return `${formatNumber(sampling * 100)} % of ${target}s`
}

type Stated = Pick<
  EvaluatorResponse,
  'state' | 'retry_at' | 'last_error' | 'max_usd_per_day' | 'spent_today_usd'
>

/** Why an evaluator does not score at the moment, or failed last; empty: nothing is wrong. */
export function reasonOf({
  state,
  retry_at,
  last_error,
  max_usd_per_day: limit,
  spent_today_usd,
}: Stated): string {
  const failed = last_error === null ? '' : `Last failure: ${last_error}`
  if (state === 'paused') return `It was paused; new calls are not scored. ${failed}`.trim()
  if (typeof limit === 'number' && spent_today_usd >= limit)
    return `The ${formatCost(limit)} of today are spent; what waits is scored on the next day in UTC.`
  if (retry_at !== null) return `It rests until ${formatTime(retry_at, false)}. ${failed}`.trim()
  return failed
}

/** The path of the routes of one evaluator. */
export function urlOf(id: string, action = ''): string {
  return `/evaluators/${encodeURIComponent(id)}${action}`
}

/** The feedback that an evaluator has given. */
export function pathToResults(project: string, name: string): string {
  return `${pathTo(project, 'feedback')}?${new URLSearchParams({ type: `wandb.runnable.${name}` })}`
}
