/** Metrics of the Node process: memory, CPU, event loop, garbage collection. */
import { collectDefaultMetrics, Registry } from 'prom-client'

/** One per process: its observers cannot be removed. */
let opened: Registry | null = null

/** Opened at the first scrape; garbage collection and event loop delays are counted from then on. */
function openRegistry(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

/**
 * Renders the metrics of the process in the Prometheus text format. The delays of the event loop are those since the
 * last scrape; they are left out if none was measured since then, for which the library renders NaN and a minimum of
 * 292 years.
 */
export async function renderProcessMetrics(): Promise<string> {
  opened ??= openRegistry()
  const text = await opened.metrics()
  if (!/^nodejs_eventloop_lag_mean_seconds NaN$/im.test(text)) return text
  return text.replace(/^nodejs_eventloop_lag_\w+_seconds \S+\n/gm, '')
}
