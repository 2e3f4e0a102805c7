/** Alerts: what is measured, when it fires and clears, and the messages about it. Pure. */
import { refuseField } from '../../errors.ts'
import type {
  AlertCreateRequest,
  AlertEventResponse,
  AlertResponse,
  AlertUpdateRequest,
} from '../../schemas/alerts/alert.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { resolveFeedbackMetrics } from '../feedback/feedback-metrics.ts'
import { nameMetric } from './metric-description.ts'

/** What an alert is, in the names of requests. */
export type AlertSettings = Omit<AlertCreateRequest, 'project_id' | 'secret'>
export type AlertMetric = AlertSettings['metric']

interface AlertState {
  readonly is_firing: boolean
  /** Checks in a row that speak for the other state. */
  readonly streak: number
}

export interface Alert extends AlertState {
  readonly id: string
  readonly project_id: string
  readonly created_at_us: number
  readonly settings: AlertSettings
  /** Signs what is sent: `whsec_` and base64. */
  readonly secret: string
  /** Value of the last check; null: none. */
  readonly value: number | null
  readonly checked_at_us: number | null
  /** When it last fired or cleared. */
  readonly changed_at_us: number | null
  /** Why the last check failed. */
  readonly error: string | null
}

/** A change of an alert, and its delivery. */
export interface AlertEvent {
  readonly id: string
  readonly alert_id: string
  readonly created_at_us: number
  readonly kind: 'fired' | 'cleared'
  readonly value: number | null
  readonly threshold: number
  readonly window_s: number
  readonly delivery: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
  readonly next_attempt_at_us: number
  readonly response_status: number | null
  readonly error: string | null
  readonly delivered_at_us: number | null
}

/**
 * Merges a change into settings, and checks what no field says alone.
 *
 * @throws ApiError validation_failed; param is the field at fault
 */
export function resolveAlertSettings(
  { secret: _secret, ...changes }: AlertUpdateRequest,
  stored: AlertSettings,
): AlertSettings {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const settings: AlertSettings = { ...stored, ...Object.fromEntries(given) }
  const { metric, filter, direction, threshold, clear_threshold } = settings
  requireSummed(metric)
  if (metric.kind === 'feedback' && Object.values(filter ?? {}).some((value) => value !== null)) {
    refuseField('filter', 'selects calls; feedback is selected by the fields of its metric')
  }
  const clear = clear_threshold ?? threshold
  if (direction === 'above' ? clear > threshold : clear < threshold) {
    const side = direction === 'above' ? 'above' : 'below'
    refuseField('clear_threshold', `must not be ${side} the threshold of an alert for ${direction}`)
  }
  return settings
}

function requireSummed(metric: AlertMetric): void {
  const isRanked = typeof metric.percentile === 'number'
  if (isRanked && metric.aggregation) {
    refuseField('metric.percentile', 'must not be given beside an aggregation')
  }
  if (metric.kind === 'calls' && metric.metric === 'error_share') {
    if (isRanked || metric.aggregation) {
      refuseField('metric.metric', 'error_share has no aggregation and no percentile')
    }
  }
  if (metric.kind === 'usage' && isRanked && !metric.model) {
    refuseField('metric.model', 'must be given for a percentile, which is one of a model')
  }
  if (metric.kind !== 'feedback') return
  const isBoolean = metric.value_type === 'boolean'
  if (isBoolean && isRanked) {
    refuseField('metric.percentile', 'is for numeric values only')
  }
  resolveFeedbackMetrics(feedbackSpecsOf({ ...metric, percentile: null }))
}

/** Where feedback has its score, by whoever gives it: evaluators have an object as output, people and clients a value. */
const SCORES = [
  ['output', 'numeric'],
  ['output.score', 'numeric'],
  ['output.passed', 'boolean'],
  ['output.value', 'numeric'],
  ['value', 'numeric'],
  ['score', 'numeric'],
] as const

/** Returns the metrics of `/feedback/stats` of which the first one with values counts for an alert. */
export function feedbackSpecsOf(metric: Extract<AlertMetric, { kind: 'feedback' }>) {
  const { json_path, value_type: type, percentile } = metric
  const isRanked = typeof percentile === 'number'
  const aggregations = isRanked ? [] : [metric.aggregation ?? 'avg']
  const summed = { aggregations, percentiles: isRanked ? [percentile] : [] }
  if (json_path) return [{ json_path, value_type: type ?? ('numeric' as const), ...summed }]
  const paths = type
    ? [...new Set(SCORES.map(([path]) => path))].map((path) => [path, type] as const)
    : SCORES.filter(([, of]) => !isRanked || of === 'numeric')
  return paths.map(([path, value_type]) => ({ json_path: path, value_type, ...summed }))
}

/**
 * Returns the state after a check.
 *
 * @param value - null: the window has none
 *
 * Spec: §6 (notifications not shown). Choice: between the two thresholds a state stays, and checks in a row begin anew.
 */
export function checkAlert(
  settings: AlertSettings,
  { is_firing, streak }: AlertState,
  value: number | null,
): AlertState & { readonly change: AlertEvent['kind'] | null } {
  const { direction, threshold, no_value } = settings
  const sign = direction === 'above' ? 1 : -1
  const clear = settings.clear_threshold ?? threshold
  const isBeyond = (limit: number) => value !== null && sign * value > sign * limit
  const isWithin = value === null ? no_value === 'clear' : !isBeyond(clear)
  if (is_firing ? !isWithin : !isBeyond(threshold)) return { is_firing, streak: 0, change: null }
  const needed = is_firing ? settings.clear_after_checks : settings.fire_after_checks
  if (streak + 1 < needed) return { is_firing, streak: streak + 1, change: null }
  return { is_firing: !is_firing, streak: 0, change: is_firing ? 'cleared' : 'fired' }
}

/** Delays in seconds after each failed attempt; with the last one used up, a delivery has failed, after 15 hours. */
const RETRY_DELAYS_S = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800]
/** By this status a receiver says that it is gone for good. */
const GONE = 410
const US_PER_S = 1_000_000

/** How an attempt ended. */
export interface AttemptResult {
  readonly response_status: number | null
  /** null: it was delivered. */
  readonly error: string | null
}

/** Returns the delivery after an attempt. */
export function settleAttempt(
  { attempts: before }: Pick<AlertEvent, 'attempts'>,
  { response_status, error }: AttemptResult,
  nowUs: number,
) {
  const attempts = before + 1
  const delayS = RETRY_DELAYS_S[before]
  const isOver = delayS === undefined || response_status === GONE
  const failed = isOver ? ('failed' as const) : ('pending' as const)
  return {
    attempts,
    response_status,
    error,
    delivery: error === null ? ('delivered' as const) : failed,
    next_attempt_at_us: nowUs + (delayS ?? 0) * US_PER_S,
    delivered_at_us: error === null ? nowUs : null,
  }
}

export function renderAlert(alert: Alert): AlertResponse {
  const { settings } = alert
  const isKnown = alert.checked_at_us !== null && settings.is_enabled
  return {
    id: alert.id,
    project_id: alert.project_id,
    ...settings,
    measures: nameMetric(settings.metric),
    filter: settings.filter ?? null,
    clear_threshold: settings.clear_threshold ?? null,
    state: !isKnown ? 'unknown' : alert.is_firing ? 'firing' : 'ok',
    value: alert.value,
    checked_at: renderTimestampOrNull(alert.checked_at_us),
    changed_at: renderTimestampOrNull(alert.changed_at_us),
    error: alert.error,
    created_at: renderTimestamp(alert.created_at_us),
  }
}

/** What an alert is, for the audit list: of the address only the origin, since the rest may be a secret. */
export function renderAuditedAlert({
  project_id,
  settings,
}: Pick<Alert, 'project_id' | 'settings'>) {
  const { webhook, ...named } = settings
  const { origin } = new URL(webhook.url)
  return { project_id, ...named, webhook: { origin, format: webhook.format } }
}

export function renderAlertEvent(event: AlertEvent): AlertEventResponse {
  const {
    alert_id: _alert_id,
    created_at_us,
    next_attempt_at_us,
    delivered_at_us,
    ...named
  } = event
  return {
    ...named,
    created_at: renderTimestamp(created_at_us),
    next_attempt_at: event.delivery === 'pending' ? renderTimestamp(next_attempt_at_us) : null,
    delivered_at: renderTimestampOrNull(delivered_at_us),
  }
}
