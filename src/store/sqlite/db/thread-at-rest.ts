/**
 * Has a thread give the memory of its heap back after load, as `http/heap-at-rest` does for the main thread: after
 * ingest, statistics and lists over a million calls a server holds 357 MB at rest instead of 469. The first question
 * after that may take longer.
 */
import { getHeapStatistics } from 'node:v8'
import { createRestWatch, LOOK_EVERY_MS } from '../../../domain/time/rest-watch.ts'

/**
 * Collects when the thread that calls it has come to rest and its heap has grown. It needs `--expose-gc`, as
 * `npm start` has; without, nothing happens.
 */
export function collectThreadAtRest(collect = globalThis.gc, measure = measureHeap): void {
  if (!collect) return
  const watch = createRestWatch(measure())
  let last = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (!watch.isDue({ utilization, bytes: measure() })) return
    collect({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    watch.noteCollected(measure())
  }, LOOK_EVERY_MS).unref()
}

/** Of this thread alone. */
function measureHeap(): number {
  return getHeapStatistics().total_heap_size
}
