/**
 * Keeps the times in the queue's rows in step with a wall clock that was set: leases, limits and waits are spans, which
 * no clock may shorten or stretch. Each is moved by as much as the clock was.
 */
import type { Clock } from '../../domain/time/clock.ts'
import type { TrainingQueue } from '../../store/api/training/training-queue.ts'

interface LeaseClockOptions {
  readonly queue: TrainingQueue
  readonly clock: Clock
  readonly leaseMs: number
  /** Called when rows have been moved. */
  onMoved(): void
  /** Called with what could not be done yet; it is tried again before the next use. */
  onFault(error: unknown): void
}

interface LeaseClock {
  /**
   * Resolves when the rows are in step with the clock. To be called before a lease is looked at.
   *
   * @throws ApiError store_unavailable, server_overloaded when they cannot be brought into step
   */
  settle(): Promise<void>
  close(): void
}

export function createLeaseClock(options: LeaseClockOptions): LeaseClock {
  const { queue, clock, leaseMs, onMoved, onFault } = options
  /** By how much the clock was moved and the rows were not. */
  let owedUs = 0
  let moving: Promise<void> | null = null

  async function moveRows(): Promise<void> {
    while (owedUs !== 0) {
      const movedUs = owedUs
      // Before anything else of this turn: what is written with the new time must come after.
      await queue.resumeLeases(clock.nowUs(), leaseMs, movedUs)
      owedUs -= movedUs
    }
    onMoved()
  }

  function move(): Promise<void> {
    moving ??= moveRows().finally(() => {
      moving = null
    })
    return moving
  }

  const stopListening = clock.onJump((movedUs) => {
    owedUs += movedUs
    move().catch(onFault)
  })

  return {
    async settle() {
      // The look at the clock is what notices.
      clock.nowUs()
      if (moving || owedUs !== 0) await move()
    },
    close: stopListening,
  }
}
