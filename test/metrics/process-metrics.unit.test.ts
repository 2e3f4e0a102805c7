import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { renderProcessMetrics } from '../../src/metrics/process-metrics.ts'

const DELAYS = /^nodejs_eventloop_lag_(?:min|max|mean|stddev|p50|p90|p99)_seconds (\S+)$/gm

function delaysIn(text: string): number[] {
  return [...text.matchAll(DELAYS)].map(([, seconds]) => Number(seconds))
}

it('delays of the event loop are reported once measured, and never as NaN', async () => {
  await expect
    .poll(async () => {
      await renderProcessMetrics()
      return delaysIn(await renderProcessMetrics())
    })
    .toEqual([])
  await expect
    .poll(async () => {
      await sleep(50)
      return delaysIn(await renderProcessMetrics())
    })
    .toHaveLength(7)
  await sleep(50)
  for (const seconds of delaysIn(await renderProcessMetrics())) {
    expect(seconds).toBeGreaterThanOrEqual(0)
    expect(seconds).toBeLessThan(600)
  }
})
