/** The bodies of webhooks about alerts. Pure. */
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { Alert, AlertEvent } from './alert.ts'
import { nameMetric } from './metric-description.ts'

/** What a message is about: a change, or a test of the receiver. */
type AlertNews = Pick<AlertEvent, 'id' | 'created_at_us' | 'value' | 'threshold' | 'window_s'> & {
  readonly kind: AlertEvent['kind'] | 'test'
}

const US_PER_S = 1_000_000
const WORDS = { fired: 'Firing', cleared: 'Cleared', test: 'Test' } as const

/** Returns the body as JSON, in the format of the alert's webhook. */
export function renderAlertMessage(alert: Alert, news: AlertNews): string {
  const { settings } = alert
  if (settings.webhook.format === 'slack') return JSON.stringify({ text: toText(alert, news) })
  const { id, kind, created_at_us, value, threshold, window_s } = news
  const { name, metric, filter = null, direction, clear_threshold = null } = settings
  return JSON.stringify({
    type: `alert.${kind}`,
    timestamp: renderTimestamp(created_at_us),
    data: {
      event_id: id,
      alert_id: alert.id,
      project_id: alert.project_id,
      name,
      metric,
      filter,
      direction,
      threshold,
      clear_threshold,
      value,
      window_start: renderTimestamp(created_at_us - window_s * US_PER_S),
      window_end: renderTimestamp(created_at_us),
    },
  })
}

function toText({ project_id, settings }: Alert, news: AlertNews): string {
  const { kind, value, threshold, window_s } = news
  const measured = value === null ? 'no value' : String(value)
  const sentence = `${nameMetric(settings.metric)} over ${nameWindow(window_s)} is ${measured}`
  const rule = `fires ${settings.direction} ${threshold}`
  return escapeSlack(`${WORDS[kind]}: ${settings.name} (${project_id}): ${sentence}, ${rule}`)
}

function nameWindow(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

/** Control characters of Slack's markup would make links and mentions of what users wrote. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
