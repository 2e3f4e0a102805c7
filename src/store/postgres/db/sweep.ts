/** Periodic work, done by any process; two that do it simultaneously do no harm. */

const SWEEP_MS = 3_600_000

/** Runs it immediately and every hour. After a failure the next run does the work. @returns a function that stops it */
export function sweepHourly(sweep: () => Promise<unknown>): () => void {
  const run = () => void sweep().catch(() => undefined)
  run()
  const timer = setInterval(run, SWEEP_MS)
  timer.unref()
  return () => clearInterval(timer)
}
