/**
 * Gives memory back after load. V8 does so by itself when little is allocated, but it notices that only when it
 * collects, and at rest nothing is collected. After 4,000 connections a server of 279 MB held 588 MB for good; so it
 * holds 400 MB. Threads of the store do the same for their own heaps.
 */
import { createRestWatch, LOOK_EVERY_MS } from '../domain/time/rest-watch.ts'

/** Collects when the process has come to rest. It needs `--expose-gc`, as `npm start` has; without, nothing happens. */
export function collectAtRest(collect = globalThis.gc): void {
  if (!collect) return
  const { rss } = process.memoryUsage
  const watch = createRestWatch(rss())
  let last = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (!watch.isDue({ utilization, bytes: rss() })) return
    // Other flavours keep the pages that they empty.
    collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    watch.noteCollected(rss())
  }, LOOK_EVERY_MS).unref()
}
