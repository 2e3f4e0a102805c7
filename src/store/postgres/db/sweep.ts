/** Work that is done now and then, by whichever process comes first: two that do it at once do no harm. */

const SWEEP_MS = 3_600_000

/** Runs it at once and every hour. What fails is done the next time. @returns the end of it */
export function sweepHourly(sweep: () => Promise<unknown>): () => void {
  const run = () => void sweep().catch(() => undefined)
  run()
  const timer = setInterval(run, SWEEP_MS)
  timer.unref()
  return () => clearInterval(timer)
}
