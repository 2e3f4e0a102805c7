/** What alerts measure, in words, for their messages and the page. Pure. */
import type { AlertCreateRequest } from '../../schemas/alerts/alert.ts'
import type { Aggregation } from '../../schemas/stats/stats.ts'

type AlertMetric = AlertCreateRequest['metric']

/** Every metric of calls and usage in words. */
const WORDS: Readonly<Record<Exclude<AlertMetric, { kind: 'feedback' }>['metric'], string>> = {
  call_count: 'calls',
  error_count: 'calls with an error',
  error_share: 'share of calls with an error',
  latency_ms: 'latency in ms',
  total_tokens: 'tokens',
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
  cache_read_input_tokens: 'input tokens read from a cache',
  cache_creation_input_tokens: 'input tokens written to a cache',
  cache_creation_1h_input_tokens: 'input tokens written to a cache for an hour',
  reasoning_tokens: 'reasoning tokens',
  input_audio_tokens: 'input tokens of audio',
  output_audio_tokens: 'output tokens of audio',
  input_image_tokens: 'input tokens of images',
  output_image_tokens: 'output tokens of images',
  total_cost: 'cost in US dollars',
  input_cost: 'cost of input in US dollars',
  output_cost: 'cost of output in US dollars',
}

const AGGREGATION_WORDS: Readonly<Record<Aggregation, string>> = {
  sum: 'sum',
  avg: 'mean',
  min: 'lowest value',
  max: 'highest value',
  count: 'number of values',
  count_true: 'number of true values',
  count_false: 'number of false values',
}

/**
 * Names what an alert measures, as `p95 of latency in ms`. Latencies and feedback are averaged by default, all others summed
 * up, which is not named.
 */
export function nameMetric(metric: AlertMetric): string {
  const { aggregation, percentile } = metric
  const isFeedback = metric.kind === 'feedback'
  const name = isFeedback
    ? `${metric.json_path ?? 'score'} of ${metric.feedback_type ?? 'all feedback'}`
    : WORDS[metric.metric]
  const model = metric.kind === 'usage' && metric.model ? ` of ${metric.model}` : ''
  if (typeof percentile === 'number') return `p${percentile} of ${name}${model}`
  const isAveraged = isFeedback || metric.metric === 'latency_ms'
  const summed = aggregation ?? (isAveraged ? 'avg' : null)
  return `${summed === null ? '' : `${AGGREGATION_WORDS[summed]} of `}${name}${model}`
}
