/** Sends messages of alerts to their receivers, signed as Standard Webhooks. */
import { Webhook } from 'standardwebhooks'
import type { Alert, AttemptResult } from '../domain/alerts/alert.ts'
import { renderAlertMessage } from '../domain/alerts/alert-message.ts'
import type { Webhooks } from '../outbound/webhooks.ts'

/** Limit: characters of a reason. */
const REASON_CHARS_MAX = 200
/** Limit: time of one attempt. */
export const ATTEMPT_MS_MAX = 10_000

/**
 * Makes one attempt. The id of the news is the same in all of them, the time is that of the attempt.
 *
 * @param nowUs - time of the attempt
 */
export async function deliverNews(
  { post }: Pick<Webhooks, 'post'>,
  alert: Alert,
  news: Parameters<typeof renderAlertMessage>[1],
  nowUs: number,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const body = renderAlertMessage(alert, news)
  const sentAt = new Date(Math.floor(nowUs / 1000))
  const request = {
    url: alert.settings.webhook.url,
    headers: {
      'user-agent': 'weft',
      'webhook-id': news.id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(alert.secret).sign(news.id, sentAt, body),
    },
    body,
    timeoutMs: ATTEMPT_MS_MAX,
    isStatusEnough: true,
    signal,
  }
  try {
    const { status: response_status } = await post(request)
    const isOk = response_status >= 200 && response_status < 300
    return {
      response_status,
      error: isOk ? null : `the response has the status ${response_status}`,
    }
  } catch (error) {
    return { response_status: null, error: describe(error) }
  }
}

/** Returns why there was no response, in one line; `fetch failed` has its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed'
  if (error.name === 'TimeoutError') return `no response in ${ATTEMPT_MS_MAX} ms`
  const { message } = error.cause instanceof Error ? error.cause : error
  return message.replaceAll(/\s+/g, ' ').slice(0, REASON_CHARS_MAX)
}
