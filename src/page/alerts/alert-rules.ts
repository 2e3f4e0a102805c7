/** What the form offers to measure, and the rules of alerts in words. Pure. */
import type { AlertResponse } from '../../schemas/alerts/alert.ts'

type AlertMetric = AlertResponse['metric']

/** What the form offers; the API takes more. */
export const OFFERS: readonly { readonly label: string; readonly metric: AlertMetric }[] = [
  { label: 'share of calls with an error', metric: { kind: 'calls', metric: 'error_share' } },
  { label: 'calls with an error', metric: { kind: 'calls', metric: 'error_count' } },
  { label: 'calls', metric: { kind: 'calls', metric: 'call_count' } },
  {
    label: 'p95 of latency in ms',
    metric: { kind: 'calls', metric: 'latency_ms', percentile: 95 },
  },
  { label: 'tokens', metric: { kind: 'usage', metric: 'total_tokens' } },
  { label: 'cost in US dollars', metric: { kind: 'usage', metric: 'total_cost' } },
  { label: 'mean of a score', metric: { kind: 'feedback' } },
]

/** Windows that the form offers, by their seconds. */
export const WINDOWS: readonly (readonly [number, string])[] = [
  [300, '5 minutes'],
  [3_600, '1 hour'],
  [86_400, '1 day'],
  [604_800, '7 days'],
]

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
