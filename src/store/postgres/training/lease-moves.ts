/** Reports of a worker while it holds a job. */
import { renewLease } from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import type { TrainingQueue } from '../../api/training/training-queue.ts'
import { COUNT_EVENTS } from '../../base/training/training-events.sql.ts'
import type { Postgres } from '../db/client.ts'
import { moveJobs } from './job-moves.ts'
import { requireLeased } from './queue-rows.ts'

/** Limit: events of one attempt. */
const ATTEMPT_EVENTS_MAX = 100_000

export function createLeaseMoves(db: Postgres): Pick<TrainingQueue, 'renewLease' | 'recordEvents'> {
  return {
    renewLease: (lease, { lease_ms, progress }) =>
      moveJobs(db, async (moves) => {
        const { now_us } = lease
        const job = await requireLeased(moves.tx, lease)
        const renewed = {
          ...renewLease(job, { now_us, lease_ms }),
          last_heartbeat_at_us: now_us,
          progress: progress ?? job.progress,
        }
        return moves.save(job, { job: renewed, event: null }, now_us)
      }),
    recordEvents: (lease, events) =>
      moveJobs(db, async (moves) => {
        const job = await requireLeased(moves.tx, lease)
        const { id: job_id, attempt } = job
        const counted = await moves.tx.first<{ count: number }>(COUNT_EVENTS, { job_id, attempt })
        if ((counted?.count ?? 0) + events.length > ATTEMPT_EVENTS_MAX) {
          const message = `An attempt has at most ${ATTEMPT_EVENTS_MAX} events.`
          throw new ApiError('validation_failed', { message, param: 'events' })
        }
        for (const event of events) await moves.addEvent(job, event, lease.now_us)
      }),
  }
}
