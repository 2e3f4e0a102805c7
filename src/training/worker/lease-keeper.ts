/**
 * Renews the lease of a job from outside the thread that trains: a pass over a long rollout may take longer
 * than a lease, and nothing can be sent within it. Progress and cancellations are handled in the thread.
 */
import type { ClaimResponse } from '../../schemas/training/worker.ts'
import { LeaseLostError } from './worker-client.ts'

/** A lease as its worker holds it: what it takes to report on the job, and how often to. */
export type HeldLease = Pick<ClaimResponse, 'id' | 'lease_token' | 'heartbeat_seconds'>

/** Renews one lease at a time. */
interface LeaseKeeper {
  /** @param lease - renewed from now on in place of the one before; null: none */
  keep(lease: HeldLease | null): void
  /** The lease that is kept, or null. */
  current(): HeldLease | null
}

/**
 * A keeper without a lease. A renewal that fails is tried again when the next one is due; a lease that is
 * lost is no longer renewed, and the thread learns of it by its next report.
 *
 * @param renew - given a signal that ends the request when the next one is due
 * @param onFailure - told of what will be tried again
 */
export function createLeaseKeeper(
  renew: (lease: HeldLease, signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): LeaseKeeper {
  let kept: HeldLease | null = null
  let timer: NodeJS.Timeout | null = null

  function stop(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }

  async function beat(lease: HeldLease, intervalMs: number): Promise<void> {
    try {
      await renew(lease, AbortSignal.timeout(intervalMs))
    } catch (error) {
      if (!(error instanceof LeaseLostError)) onFailure(error)
      else if (kept === lease) stop()
    }
  }

  return {
    keep(lease) {
      stop()
      kept = lease
      if (lease === null) return
      const intervalMs = Math.ceil(lease.heartbeat_seconds * 1000)
      timer = setInterval(() => void beat(lease, intervalMs), intervalMs).unref()
    },
    current: () => kept,
  }
}
