/** What the form offers to measure, and how alerts are named in words. Pure. */
import type { AlertResponse } from '../../schemas/alerts/alert.ts'
import type { Aggregation } from '../../schemas/stats/stats.ts'

type AlertMetric = AlertResponse['metric']

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

/** What the form offers; the API takes more. */
const OFFERED: readonly AlertMetric[] = [
  { kind: 'calls', metric: 'error_share' },
  { kind: 'calls', metric: 'error_count' },
  { kind: 'calls', metric: 'call_count' },
  { kind: 'calls', metric: 'latency_ms', percentile: 95 },
  { kind: 'usage', metric: 'total_tokens' },
  { kind: 'usage', metric: 'total_cost' },
]

export const OFFERS: readonly { readonly label: string; readonly metric: AlertMetric }[] = [
  ...OFFERED.map((metric) => ({ label: nameMetric(metric), metric })),
  { label: 'mean of a score', metric: { kind: 'feedback' } },
]

/** Windows that the form offers, by their seconds. */
export const WINDOWS: readonly (readonly [number, string])[] = [
  [300, '5 minutes'],
  [3_600, '1 hour'],
  [86_400, '1 day'],
  [604_800, '7 days'],
]

/** What an alert measures, as `p95 of latency in ms`. */
export function nameMetric(metric: AlertMetric): string {
  const { aggregation, percentile } = metric
  const name =
    metric.kind === 'feedback'
      ? `${metric.json_path ?? 'output'} of ${metric.feedback_type ?? 'all feedback'}`
      : WORDS[metric.metric]
  const model = metric.kind === 'usage' && metric.model ? ` of ${metric.model}` : ''
  if (typeof percentile === 'number') return `p${percentile} of ${name}${model}`
  return `${aggregation ? `${AGGREGATION_WORDS[aggregation]} of ` : ''}${name}${model}`
}

function nameWindow(seconds: number): string {
  return WINDOWS.find(([length]) => length === seconds)?.[1] ?? `${seconds} s`
}

/** When an alert fires, as `above 0.05 over 1 hour`. */
export function nameRule({
  direction,
  threshold,
  window_s,
}: Pick<AlertResponse, 'direction' | 'threshold' | 'window_s'>): string {
  return `${direction} ${threshold} over ${nameWindow(window_s)}`
}
