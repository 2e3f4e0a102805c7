/** What Node tells of the process: memory, processor, event loop, collected garbage. */
import type { Registry } from 'prom-client'

/** Of the process, so once in it: what watches it is never taken away. */
let opened: Promise<Registry> | null = null

/** Loaded with the first scrape, from which on garbage and delays of the event loop are counted. */
async function openRegistry(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

/** Their text, in the format of Prometheus. */
export async function renderProcessMetrics(): Promise<string> {
  opened ??= openRegistry()
  return (await opened).metrics()
}
