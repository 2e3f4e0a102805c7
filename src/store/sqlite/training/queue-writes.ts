/** The state transitions of the training queue. Each is one write, which reads and updates its rows. */
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import {
  failAttempt,
  type Moved,
  releaseJob,
  renewLease,
} from '../../../domain/training/training-moves.ts'
import { requireRoomForEvents } from '../../../domain/training/training-queue.ts'
import type {
  Lease,
  LeaseRenewal,
  NewJobEvent,
  TrainingQueue,
} from '../../api/training/training-queue.ts'
import { COUNT_EVENTS } from '../../base/training/training-events.sql.ts'
import type { Connection } from '../db/connection.ts'
import type { JobMoves } from './job-moves.ts'
import { createClaimWrites } from './queue-claim-writes.ts'
import { createCompletionWrites } from './queue-completion-writes.ts'
import { createQueueRows } from './queue-rows.ts'

type FailParameters = Parameters<TrainingQueue['failAttempt']>

interface AttemptFailure {
  readonly lease: Lease
  readonly failure: FailParameters[1]
  readonly end: FailParameters[2]
}

interface StagedFile {
  readonly staged_path: string
  readonly staged_sha256: string
  readonly staged_bytes: number
}

/** A job before and after its attempt ended. */
export interface EndedAttempt {
  readonly before: TrainingJob
  readonly after: TrainingJob
}

export function createQueueWrites(db: Connection, moves: JobMoves) {
  const rows = createQueueRows(db)
  const countEvents = db.prepare(COUNT_EVENTS).pluck()

  function end(lease: Lease, move: (job: TrainingJob) => Moved): EndedAttempt {
    const before = rows.requireLeased(lease)
    return { before, after: moves.save(before, move(before), lease.now_us) }
  }

  return {
    ...createClaimWrites(db, moves, rows),
    ...createCompletionWrites(db, moves, rows),
    renew_lease({ lease, ...renewal }: LeaseRenewal & { readonly lease: Lease }): TrainingJob {
      const { now_us } = lease
      const job = rows.requireLeased(lease)
      const renewed = renewLease(job, { now_us, ...renewal })
      return moves.save(job, { job: renewed, event: null }, now_us)
    },
    record_events({ lease, events }: { lease: Lease; events: readonly NewJobEvent[] }): void {
      const job = rows.requireLeased(lease)
      const count = countEvents.get({ job_id: job.id, attempt: job.attempt }) as number
      requireRoomForEvents(count, events.length)
      for (const event of events) moves.addEvent(job, event, lease.now_us)
    },
    /** Returns the path of the previously staged file, or null. */
    stage_artifact({ lease, staged }: { lease: Lease; staged: StagedFile }): string | null {
      const job = rows.requireLeased(lease)
      moves.save(job, { job: { ...job, ...staged }, event: null }, lease.now_us)
      return job.staged_path
    },
    fail_attempt: ({ lease, failure, end: times }: AttemptFailure) =>
      end(lease, (job) => failAttempt(job, failure, times)),
    release_job: (lease: Lease) => end(lease, (job) => releaseJob(job, lease.now_us)),
  }
}
