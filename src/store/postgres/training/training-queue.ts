/** The queue of training jobs in PostgreSQL: each transition is a transaction that locks the queue. */
import { randomUUID } from 'node:crypto'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import {
  BACKOFF_MS_MAX,
  failAttempt,
  type Moved,
  releaseJob,
} from '../../../domain/training/training-moves.ts'
import { firstDueUs, type QueueWaits } from '../../../domain/training/training-queue.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import type { Lease, TrainingQueue } from '../../api/training/training-queue.ts'
import { EXTEND_LEASES } from '../../base/training/training-queue.sql.ts'
import type { Blobs, ReceivedBlob } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { type JobMoves, moveJobs } from './job-moves.ts'
import { createLeaseMoves } from './lease-moves.ts'
import type { QueueBell } from './queue-bell.ts'
import { claimJob, endAllOverdue } from './queue-claims.ts'
import { complete } from './queue-completion.ts'
import { findCheckpoint, findModel, requireLeased } from './queue-rows.ts'
import * as SQL from './training-queue.sql.ts'

const US_PER_MS = 1000

interface QueueParts {
  readonly db: Postgres
  readonly blobs: Blobs
  readonly bell: QueueBell
}

export function createTrainingQueue(parts: QueueParts): TrainingQueue {
  const { db, blobs, bell } = parts
  const move = <T>(run: (moves: JobMoves) => Promise<T>) => moveJobs(db, run)

  /**
   * After the commit of attempts that ended, with the jobs as they were before: tells waiting workers, and removes
   * staged files and hidden parents that nothing needs any more.
   */
  async function cleanUp(ended: readonly TrainingJob[]): Promise<void> {
    if (ended.length === 0) return
    bell.ring()
    const paths: (string | null)[] = []
    for (const { staged_path, parent_checkpoint_id } of ended) {
      const parent = await findCheckpoint(db, parent_checkpoint_id).catch(() => null)
      paths.push(staged_path, parent?.artifact?.path ?? null)
    }
    await blobs.removeUnused(paths)
  }

  async function end(lease: Lease, to: (job: TrainingJob) => Moved): Promise<TrainingJob> {
    const { before, after } = await move(async (moves) => {
      const job = await requireLeased(moves.tx, lease)
      await moves.tx.all(SQL.NOTIFY_QUEUE)
      return { before: job, after: await moves.save(job, to(job), lease.now_us) }
    })
    await cleanUp([before])
    return after
  }

  return {
    async claimJob(claim) {
      const { ended, claimed } = await move(async (moves) => ({
        ended: await endAllOverdue(moves, claim.times),
        claimed: await claimJob(moves, claim),
      }))
      await cleanUp(ended)
      return claimed
    },
    async findLeased(lease) {
      const job = await requireLeased(db, lease)
      const parent = await findCheckpoint(db, job.parent_checkpoint_id)
      return { job, model: await findModel(db, job.model_id), parent }
    },
    ...createLeaseMoves(db),
    async receiveArtifact(source, bytesMax) {
      const path = `artifacts/${randomUUID()}`
      const received = await blobs.receive(path, source, bytesMax)
      return {
        ...received,
        stage: (lease) => stage(parts, lease, { path, ...received }),
        discard: () => blobs.removeUnused([path]),
      }
    },
    async completeJob(lease, outcome) {
      const { ended, checkpoint } = await move(async (moves) => {
        await moves.tx.all(SQL.NOTIFY_QUEUE)
        return complete(moves, lease, outcome)
      })
      if (ended !== null) await cleanUp([ended])
      if (checkpoint === null) throw leaseLost()
      return checkpoint
    },
    failAttempt: (lease, failure, times) => end(lease, (job) => failAttempt(job, failure, times)),
    releaseJob: (lease) => end(lease, (job) => releaseJob(job, lease.now_us)),
    async endOverdue(times) {
      const ended = await move((moves) => endAllOverdue(moves, times))
      await cleanUp(ended)
      return ended.length
    },
    async nextDueUs(now_us, queue_timeout_ms) {
      const lease = await db.first<{ due_us: number | null }>(SQL.NEXT_LEASE_END)
      const waits = await db.first<QueueWaits>(SQL.NEXT_WAIT_END, { now_us })
      return firstDueUs(lease?.due_us ?? null, waits as QueueWaits, queue_timeout_ms)
    },
    resumeLeases: (now_us, lease_ms, moved_us) =>
      move(async ({ tx }) => {
        const lease_expires_at_us = now_us + lease_ms * US_PER_MS
        await tx.run(EXTEND_LEASES, { lease_expires_at_us, moved_us })
        const available_us_max = now_us + BACKOFF_MS_MAX * US_PER_MS
        await tx.run(SQL.MOVE_WAITS, { moved_us, available_us_max })
      }),
    onChange: bell.listen,
  }
}

/** Makes received bytes the artifact of the attempt; what was staged before is removed. */
async function stage(
  { db, blobs }: QueueParts,
  lease: Lease,
  { path, sha256, bytes }: ReceivedBlob & { readonly path: string },
): Promise<void> {
  const replaced = await moveJobs(db, async (moves) => {
    const job = await requireLeased(moves.tx, lease)
    const staged = { staged_path: path, staged_sha256: sha256, staged_bytes: bytes }
    await moves.save(job, { job: { ...job, ...staged }, event: null }, lease.now_us)
    return job.staged_path
  })
  await blobs.removeUnused([replaced])
}
