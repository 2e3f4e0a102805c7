import { describe, expect, it } from 'vitest'
import {
  type AlertSettings,
  checkAlert,
  resolveAlertSettings,
  settleAttempt,
} from '../../src/domain/alerts/alert.ts'
import { renderAlertMessage } from '../../src/domain/alerts/alert-message.ts'
import { alertOf, settingsOf } from './alert-fixtures.ts'

/** The changes by values of checks, one letter each: f fired, c cleared, - none. */
function play(more: Partial<AlertSettings>, values: readonly (number | null)[]): string {
  const settings = settingsOf({ threshold: 10, ...more })
  let state = { is_firing: false, streak: 0 }
  return values
    .map((value) => {
      const { change, ...next } = checkAlert(settings, state, value)
      state = next
      return change === null ? '-' : change[0]
    })
    .join('')
}

describe('a check of an alert', () => {
  it.each<[string, Partial<AlertSettings>, (number | null)[], string]>([
    ['fires beyond the threshold and clears at it', {}, [10, 11, 12, 10, 11], '-f-cf'],
    ['for below fires under the threshold', { direction: 'below' }, [10, 9, 10], '-fc'],
    ['stays between two thresholds', { clear_threshold: 5 }, [11, 8, 6, 5, 8, 11], 'f--c-f'],
    [
      'for below clears above the higher threshold',
      { direction: 'below', clear_threshold: 20 },
      [9, 15, 20],
      'f-c',
    ],
    ['fires after checks in a row', { fire_after_checks: 3 }, [11, 11, 9, 11, 11, 11], '-----f'],
    ['clears after checks in a row', { clear_after_checks: 2 }, [11, 9, 11, 9, 9], 'f---c'],
    [
      'without a value keeps the state',
      { fire_after_checks: 2 },
      [11, null, 11, 11, null],
      '---f-',
    ],
    ['without a value clears if it should', { no_value: 'clear' }, [null, 11, null], '-fc'],
  ])('%s', (_, more, values, changes) => {
    expect(play(more, values)).toBe(changes)
  })
})

describe('settings of an alert', () => {
  it.each<[string, object]>([
    ['clear_threshold', { clear_threshold: 11 }],
    ['clear_threshold', { direction: 'below', clear_threshold: 9 }],
    [
      'metric.percentile',
      { metric: { kind: 'calls', metric: 'latency_ms', aggregation: 'avg', percentile: 5 } },
    ],
    ['metric.metric', { metric: { kind: 'calls', metric: 'error_share', aggregation: 'avg' } }],
    ['metric.model', { metric: { kind: 'usage', metric: 'total_tokens', percentile: 95 } }],
    ['metric.percentile', { metric: { kind: 'feedback', value_type: 'boolean', percentile: 95 } }],
    ['metrics[0].json_path', { metric: { kind: 'feedback', json_path: 'a..b' } }],
    ['filter', { metric: { kind: 'feedback' }, filter: { trace_roots_only: true } }],
  ])('are refused at %s: %j', (param, changes) => {
    const resolve = () => resolveAlertSettings(changes, settingsOf())
    expect(resolve).toThrow(expect.objectContaining({ code: 'validation_failed', param }))
  })
})

describe('an attempt to deliver', () => {
  it('is repeated with growing delays for 15 hours, then it has failed', () => {
    let event = { attempts: 0 }
    let seconds = 0
    for (;;) {
      const next = settleAttempt(event, { response_status: 500, error: 'no' }, 0)
      event = next
      if (next.delivery === 'failed') break
      expect(next.next_attempt_at_us / 1e6).toBeGreaterThanOrEqual(5)
      seconds += next.next_attempt_at_us / 1e6
    }
    expect([event.attempts, Math.floor(seconds / 3600)]).toEqual([10, 15])
  })

  it('is the last one when the receiver is gone', () => {
    const gone = settleAttempt({ attempts: 0 }, { response_status: 410, error: 'gone' }, 0)
    expect(gone.delivery).toBe('failed')
  })
})

describe('a message for Slack', () => {
  it('is one text, in which names cannot mention people or make links', () => {
    const settings = settingsOf({
      name: '<!channel> & co',
      webhook: { url: 'https://hooks.example.com/', format: 'slack' },
      metric: { kind: 'calls', metric: 'latency_ms', percentile: 95 },
    })
    const news = {
      id: 'e',
      kind: 'fired',
      created_at_us: 0,
      value: 12,
      threshold: 10,
      window_s: 300,
    }
    expect(JSON.parse(renderAlertMessage(alertOf({ settings }), news as never))).toEqual({
      text: 'Firing: &lt;!channel&gt; &amp; co (acme/demo): p95 of latency in ms over 5 min is 12, fires above 10',
    })
  })
})
