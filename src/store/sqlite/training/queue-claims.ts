/** The queue's own moves: jobs are given out, and what is overdue ends. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import {
  BACKOFF_MS_MAX,
  endOverdue,
  startAttempt,
  timeOutJob,
} from '../../../domain/training/training-moves.ts'
import type { Claim, QueueTimes, TrainingQueue } from '../../api/training-queue.ts'
import type { QueueParts, QueueRows } from './queue-rows.ts'
import * as SQL from './training-queue.sql.ts'

const US_PER_MS = 1000

type QueueClaims = Pick<TrainingQueue, 'claimJob' | 'endOverdue' | 'nextDueUs' | 'resumeLeases'>

interface Waits {
  readonly available_us: number | null
  readonly waits_since_us: number | null
}

export function createQueueClaims(parts: QueueParts, rows: QueueRows): QueueClaims {
  const { db, commit, moves, newId } = parts
  const listClaimable = db.prepare(SQL.LIST_CLAIMABLE_JOBS)
  const nextLeaseEnd = db.prepare(SQL.NEXT_LEASE_END).pluck()
  const nextWaitEnd = db.prepare(SQL.NEXT_WAIT_END)
  const extendLeases = db.prepare(SQL.EXTEND_LEASES)
  const moveWaits = db.prepare(SQL.MOVE_WAITS)
  const endAllOverdue = prepareEndOverdue(parts)

  /** The oldest job that may run and that the worker accepts. */
  function findClaimable({ times, accepts }: Claim): FoundJob | null {
    const { now_us } = times
    for (const job of listClaimable.iterate({ now_us }) as Iterable<TrainingJob>) {
      const model = rows.findModel(job.model_id)
      if (accepts(model)) return { job, model }
    }
    return null
  }

  function start(claim: Claim, { job, model }: FoundJob) {
    const { times, accepts: _, resolveConfig, ...worker } = claim
    const { now_us } = times
    const parent = rows.findLatest(model.id)
    const resolved_config_json = resolveConfig(job.config_json)
    const running = startAttempt(job, { ...worker, now_us, parent, resolved_config_json })
    moves.save(job, { job: running, event: null }, { now_us, newId })
    return { job: running, model, parent }
  }

  return {
    async claimJob(claim) {
      const { ended, claimed } = await commit.write(() => {
        const ended = endAllOverdue(claim.times)
        const found = findClaimable(claim)
        return { ended, claimed: found && start(claim, found) }
      })
      await rows.cleanUp(ended)
      return claimed
    },
    async endOverdue(times) {
      const ended = await commit.write(() => endAllOverdue(times))
      await rows.cleanUp(ended)
      return ended.length
    },
    async nextDueUs(now_us, queue_timeout_ms) {
      const lease_us = nextLeaseEnd.get() as number | null
      const { available_us, waits_since_us } = nextWaitEnd.get({ now_us }) as Waits
      const isUnlimited = queue_timeout_ms === 0 || waits_since_us === null
      const timeout_us = isUnlimited ? null : waits_since_us + queue_timeout_ms * US_PER_MS
      const dues = [lease_us, available_us, timeout_us].filter((due) => due !== null)
      return dues.length === 0 ? null : Math.min(...dues)
    },
    resumeLeases: (now_us, lease_ms, moved_us) =>
      commit.write(() => {
        extendLeases.run({ lease_expires_at_us: now_us + lease_ms * US_PER_MS, moved_us })
        const available_us_max = now_us + BACKOFF_MS_MAX * US_PER_MS
        moveWaits.run({ moved_us, available_us_max })
      }),
  }
}

interface FoundJob {
  readonly job: TrainingJob
  readonly model: PreviewModel
}

/** Ends all overdue jobs, inside a transaction; gives them back as they were. */
function prepareEndOverdue({ db, moves, newId }: QueueParts) {
  const listOverdue = db.prepare(SQL.LIST_OVERDUE_JOBS)
  const listNeglected = db.prepare(SQL.LIST_NEGLECTED_JOBS)

  return (times: QueueTimes): TrainingJob[] => {
    const { now_us, retry_ms, queue_timeout_ms, chance } = times
    const context = { now_us, newId }
    const overdue = listOverdue.all({ now_us }) as TrainingJob[]
    for (const job of overdue) {
      moves.save(job, endOverdue(job, { now_us, retry_ms, chance: chance() }), context)
    }
    if (queue_timeout_ms === 0) return overdue
    const waits_since_us = now_us - queue_timeout_ms * US_PER_MS
    const neglected = listNeglected.all({ waits_since_us }) as TrainingJob[]
    for (const job of neglected) moves.save(job, timeOutJob(job, now_us), context)
    return [...overdue, ...neglected]
  }
}
