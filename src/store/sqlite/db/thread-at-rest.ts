/**
 * Has a thread give the memory of its heap back after load, as `http/heap-at-rest` does for the main thread: three
 * readers and the writer held some 90 MB of garbage.
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
