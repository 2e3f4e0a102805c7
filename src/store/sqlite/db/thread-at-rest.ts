/**
 * Returns the heap memory of a thread to the system after load, as `http/heap-at-rest` does for the main thread: after
 * ingest, statistics and lists over a million calls, an idle server holds 357 MB instead of 469. The first request
 * after that may take longer.
 */
import { getHeapStatistics } from 'node:v8'
import { createRestWatch, LOOK_EVERY_MS } from '../../../domain/time/rest-watch.ts'

/**
 * Collects garbage whenever the calling thread is idle and its heap has grown. Does nothing without `--expose-gc`,
 * which `npm start` sets.
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

/** Returns the heap size of this thread alone, in bytes. */
function measureHeap(): number {
  return getHeapStatistics().total_heap_size
}
