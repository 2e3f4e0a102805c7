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

/** Renders them in the Prometheus text format. */
export async function renderProcessMetrics(): Promise<string> {
  opened ??= openRegistry()
  return (await opened).metrics()
}
