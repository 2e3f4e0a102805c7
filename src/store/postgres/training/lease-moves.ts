/** Reports of a worker while it holds a job. */
import { renewLease } from '../../../domain/training/training-moves.ts'
import { requireRoomForEvents } from '../../../domain/training/training-queue.ts'
import type { TrainingQueue } from '../../api/training/training-queue.ts'
import { COUNT_EVENTS } from '../../base/training/training-events.sql.ts'
import type { Postgres } from '../db/client.ts'
import { moveJobs } from './job-moves.ts'
import { requireLeased } from './queue-rows.ts'

export function createLeaseMoves(db: Postgres): Pick<TrainingQueue, 'renewLease' | 'recordEvents'> {
  return {
    renewLease: (lease, renewal) =>
      moveJobs(db, async (moves) => {
        const { now_us } = lease
        const job = await requireLeased(moves.tx, lease)
        const renewed = renewLease(job, { now_us, ...renewal })
        return moves.save(job, { job: renewed, event: null }, now_us)
      }),
    recordEvents: (lease, events) =>
      moveJobs(db, async (moves) => {
        const job = await requireLeased(moves.tx, lease)
        const { id: job_id, attempt } = job
        const counted = await moves.tx.first<{ count: number }>(COUNT_EVENTS, { job_id, attempt })
        requireRoomForEvents(counted?.count ?? 0, events.length)
        for (const event of events) await moves.addEvent(job, event, lease.now_us)
      }),
  }
}
