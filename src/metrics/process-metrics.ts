/** Metrics of the Node process: memory, CPU, event loop, garbage collection. */
import type { Registry } from 'prom-client'

/** One per process: its observers cannot be removed. */
let opened: Promise<Registry> | null = null

/** Loaded at the first scrape; garbage collection and event loop delays are counted from then on. */
async function openRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

/**
 * Renders them in the Prometheus text format. The delays of the event loop are those since the last scrape; they are
 * left out if none was measured since then, for which the library renders NaN and a minimum of 292 years.
 */
export async function renderProcessMetrics(): Promise<string> {
  opened ??= openRegistry()
  const text = await (await opened).metrics()
  if (!/^nodejs_eventloop_lag_mean_seconds NaN$/im.test(text)) return text
  return text.replace(/^nodejs_eventloop_lag_\w+_seconds \S+\n/gm, '')
}
