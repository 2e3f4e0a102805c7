/** Transitions by the queue itself: claims, and the end of overdue attempts. */
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { endOverdue, startAttempt, timeOutJob } from '../../../domain/training/training-moves.ts'
import { acceptsModel } from '../../../domain/training/training-queue.ts'
import type { Claim, ClaimedJob, QueueTimes } from '../../api/training/training-queue.ts'
import { LIST_CLAIMABLE_JOBS } from '../../base/training/training-queue.sql.ts'
import { FIND_MODELS } from '../models/preview-models.sql.ts'
import type { JobMoves } from './job-moves.ts'
import { findLatest } from './queue-rows.ts'
import * as SQL from './training-queue.sql.ts'

const US_PER_MS = 1000

/** Leases the oldest job that may run and that the worker accepts; null when there is none. */
export async function claimJob(moves: JobMoves, claim: Claim): Promise<ClaimedJob | null> {
  const found = await findClaimable(moves, claim)
  if (found === null) return null
  const { job, model } = found
  const { times, base_models: _models, projects: _projects, ...worker } = claim
  const { now_us } = times
  const parent = await findLatest(moves.tx, model.id)
  const running = startAttempt(job, { ...worker, now_us, parent })
  await moves.save(job, { job: running, event: null }, now_us)
  return { job: running, model, parent }
}

async function findClaimable({ tx }: JobMoves, claim: Claim) {
  const { now_us } = claim.times
  const jobs = await tx.all<TrainingJob>(LIST_CLAIMABLE_JOBS, { now_us })
  const ids = jobs.map(({ model_id }) => model_id)
  const models = await tx.all<PreviewModel>(FIND_MODELS, { ids })
  const modelOf = new Map(models.map((model) => [model.id, model]))
  for (const job of jobs) {
    const model = modelOf.get(job.model_id) as PreviewModel
    if (acceptsModel(claim, model)) return { job, model }
  }
  return null
}

/** Ends overdue attempts. @returns their jobs, as they were before */
export async function endAllOverdue(
  moves: JobMoves,
  { queue_timeout_ms, ...end }: QueueTimes,
): Promise<TrainingJob[]> {
  const { now_us } = end
  const overdue = await moves.tx.all<TrainingJob>(SQL.LIST_OVERDUE_JOBS, { now_us })
  for (const job of overdue) await moves.save(job, endOverdue(job, end), now_us)
  if (queue_timeout_ms === 0) return overdue
  const waits_since_us = now_us - queue_timeout_ms * US_PER_MS
  const neglected = await moves.tx.all<TrainingJob>(SQL.LIST_NEGLECTED_JOBS, { waits_since_us })
  for (const job of neglected) await moves.save(job, timeOutJob(job, now_us), now_us)
  return [...overdue, ...neglected]
}
