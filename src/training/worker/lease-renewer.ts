/**
 * Renews a job's lease from outside the training thread: a pass over a long rollout may take longer than a
 * lease, and the thread can send nothing during it. Progress and cancellation are handled in the thread.
 */
import type { ClaimResponse } from '../../schemas/training/worker.ts'
import { LeaseLostError } from './worker-client.ts'

/** A worker's lease: the token needed to report on the job, and the heartbeat interval. */
export type RunningLease = Pick<ClaimResponse, 'id' | 'lease_token' | 'heartbeat_seconds'>

/** Renews one lease at a time. */
interface LeaseRenewer {
  /** @param lease - renewed from now on instead of the previous one; null: none */
  keep(lease: RunningLease | null): void
  /** Returns the current lease, or null. */
  current(): RunningLease | null
}

/**
 * Creates a keeper without a lease. A failed renewal is retried when the next one is due. A lost lease is
 * no longer renewed, and the thread learns of the loss from its next report.
 *
 * @param renew - given a signal that ends the request when the next one is due
 * @param onFailure - called with each failure that will be retried
 */
export function createLeaseRenewer(
  renew: (lease: RunningLease, signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): LeaseRenewer {
  let kept: RunningLease | null = null
  let timer: NodeJS.Timeout | null = null

  function stop(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }

  async function beat(lease: RunningLease, intervalMs: number): Promise<void> {
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
