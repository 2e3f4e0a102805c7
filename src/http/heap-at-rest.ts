/**
 * Gives memory back after load. V8 does so by itself when little is allocated, but it notices that only when it
 * collects, and at rest nothing is collected. After 4,000 connections a server of 279 MB held 588 MB for good; so it
 * holds 400 MB.
 */
/** How often is looked. */
const LOOK_EVERY_MS = 5000
/** Share of its time that the event loop works at most when it is at rest. */
const REST_MAX = 0.05
/** Growth of the process since it was last at rest from which on a pause of some 100 ms is worth it. */
const GROWTH_FROM = 1.25

interface RestLook {
  /** Share of the time since the last look in which the event loop worked, 0 to 1. */
  readonly utilization: number
  /** Memory of the whole process. */
  readonly rssBytes: number
}

/** Tells when to collect: at the second quiet look after load, where the process has grown. */
export function createRestWatch(startBytes: number) {
  let restBytes = startBytes
  let quietLooks = 0
  return {
    isDue({ utilization, rssBytes }: RestLook): boolean {
      quietLooks = utilization > REST_MAX ? 0 : quietLooks + 1
      return quietLooks === 2 && rssBytes >= restBytes * GROWTH_FROM
    },
    /** What was left of it. */
    noteCollected(rssBytes: number): void {
      restBytes = rssBytes
    },
  }
}

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
    if (!watch.isDue({ utilization, rssBytes: rss() })) return
    // Other flavours keep the pages that they empty.
    collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    watch.noteCollected(rss())
  }, LOOK_EVERY_MS).unref()
}
