/** The queue's own transitions: assigns jobs to workers, and ends overdue ones. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import {
  BACKOFF_MS_MAX,
  endOverdue,
  startAttempt,
  timeOutJob,
} from '../../../domain/training/training-moves.ts'
import { acceptsModel } from '../../../domain/training/training-queue.ts'
import type { Claim, ClaimedJob, QueueTimes } from '../../api/training/training-queue.ts'
import * as BASE from '../../base/training/training-queue.sql.ts'
import type { Connection } from '../db/connection.ts'
import type { JobMoves } from './job-moves.ts'
import type { QueueRows } from './queue-rows.ts'
import * as SQL from './training-queue.sql.ts'

const US_PER_MS = 1000

/** The result of a claim: the jobs it ended, as they were before, and the job it assigned. */
interface ClaimOutcome {
  readonly ended: readonly TrainingJob[]
  readonly claimed: ClaimedJob | null
}

/** The arguments of the method of TrainingQueue. */
interface LeaseResumption {
  readonly now_us: number
  readonly lease_ms: number
  readonly moved_us: number
}

export function createClaimWrites(db: Connection, moves: JobMoves, rows: QueueRows) {
  const listClaimable = db.prepare(BASE.LIST_CLAIMABLE_JOBS)
  const extendLeases = db.prepare(BASE.EXTEND_LEASES)
  const moveWaits = db.prepare(SQL.MOVE_WAITS)
  const endAllOverdue = prepareEndOverdue(db, moves)

  /** Returns the oldest job that may run and that the worker accepts. */
  function findClaimable(claim: Claim): FoundJob | null {
    const { now_us } = claim.times
    for (const job of listClaimable.iterate({ now_us }) as Iterable<TrainingJob>) {
      const model = rows.findModel(job.model_id)
      if (acceptsModel(claim, model)) return { job, model }
    }
    return null
  }

  function start(claim: Claim, { job, model }: FoundJob): ClaimedJob {
    const { times, base_models: _models, projects: _projects, ...worker } = claim
    const { now_us } = times
    const parent = rows.findLatest(model.id)
    const running = startAttempt(job, { ...worker, now_us, parent })
    moves.save(job, { job: running, event: null }, now_us)
    return { job: running, model, parent }
  }

  return {
    claim_job(claim: Claim): ClaimOutcome {
      const ended = endAllOverdue(claim.times)
      const found = findClaimable(claim)
      return { ended, claimed: found && start(claim, found) }
    },
    /** Returns the ended jobs, as they were before. */
    end_overdue: endAllOverdue,
    resume_leases({ now_us, lease_ms, moved_us }: LeaseResumption): void {
      extendLeases.run({ lease_expires_at_us: now_us + lease_ms * US_PER_MS, moved_us })
      const available_us_max = now_us + BACKOFF_MS_MAX * US_PER_MS
      moveWaits.run({ moved_us, available_us_max })
    },
  }
}

interface FoundJob {
  readonly job: TrainingJob
  readonly model: PreviewModel
}

function prepareEndOverdue(db: Connection, moves: JobMoves) {
  const listOverdue = db.prepare(SQL.LIST_OVERDUE_JOBS)
  const listNeglected = db.prepare(SQL.LIST_NEGLECTED_JOBS)

  return ({ queue_timeout_ms, ...end }: QueueTimes): TrainingJob[] => {
    const { now_us } = end
    const overdue = listOverdue.all({ now_us }) as TrainingJob[]
    for (const job of overdue) moves.save(job, endOverdue(job, end), now_us)
    if (queue_timeout_ms === 0) return overdue
    const waits_since_us = now_us - queue_timeout_ms * US_PER_MS
    const neglected = listNeglected.all({ waits_since_us }) as TrainingJob[]
    for (const job of neglected) moves.save(job, timeOutJob(job, now_us), now_us)
    return [...overdue, ...neglected]
  }
}
