/**
 * Shifts the times in the queue's rows when the wall clock is set: leases, limits and waits are durations, which
 * a change of the clock must not shorten or extend. All are shifted by as much as the clock.
 */
import type { Clock } from '../../domain/time/clock.ts'
import type { TrainingQueue } from '../../store/api/training/training-queue.ts'

interface LeaseClockOptions {
  readonly queue: TrainingQueue
  readonly clock: Clock
  readonly leaseMs: number
  /** Called when rows have been shifted. */
  onMoved(): void
  /** Called with an error of a shift, which is retried before the next use. */
  onFault(error: unknown): void
}

interface LeaseClock {
  /**
   * Resolves when the rows match the clock. Must be called before a lease is checked.
   *
   * @throws ApiError store_unavailable, server_overloaded when the rows cannot be shifted
   */
  settle(): Promise<void>
  close(): void
}

export function createLeaseClock(options: LeaseClockOptions): LeaseClock {
  const { queue, clock, leaseMs, onMoved, onFault } = options
  /** Clock change that has not been applied to the rows yet. */
  let pendingShiftUs = 0
  let moving: Promise<void> | null = null

  async function moveRows(): Promise<void> {
    while (pendingShiftUs !== 0) {
      const movedUs = pendingShiftUs
      // Queued before anything else in this turn: writes with the new time must come after it.
      await queue.resumeLeases(clock.nowUs(), leaseMs, movedUs)
      pendingShiftUs -= movedUs
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
    pendingShiftUs += movedUs
    move().catch(onFault)
  })

  return {
    async settle() {
      // Reading the clock detects a change of it.
      clock.nowUs()
      if (moving || pendingShiftUs !== 0) await move()
    },
    close: stopListening,
  }
}
