/** The queue of training jobs in PostgreSQL: each transition is a transaction that locks the queue. */
import { randomUUID } from 'node:crypto'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import type { Lease, TrainingQueue } from '../../api/training/training-queue.ts'
import { findCheckpoint } from '../../base/models/checkpoint-steps.ts'
import { findLeased, findNextDueUs } from '../../base/training/job-steps.ts'
import type { EndedAttempt } from '../../base/training/queue-writes.ts'
import type { Blobs, ReceivedBlob } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import type { QueueBell } from './queue-bell.ts'
import { QUEUE } from './training-queue.sql.ts'
import { writeAndNotify, writeTraining } from './training-writes.ts'

interface QueueParts {
  readonly db: Postgres
  readonly blobs: Blobs
  readonly bell: QueueBell
}

export function createTrainingQueue(parts: QueueParts): TrainingQueue {
  const { db, blobs, bell } = parts

  /**
   * After the commit of attempts that ended, with the jobs as they were before: tells waiting workers, and removes
   * staged files and hidden parents that nothing needs any more.
   */
  async function cleanUp(ended: readonly TrainingJob[]): Promise<void> {
    if (ended.length === 0) return
    bell.ring()
    const paths: (string | null)[] = []
    for (const { staged_path, parent_checkpoint_id } of ended) {
      const parent = await runSteps(db, findCheckpoint(parent_checkpoint_id)).catch(() => null)
      paths.push(staged_path, parent?.artifact?.path ?? null)
    }
    await blobs.removeUnused(paths)
  }

  async function finish({ before, after }: EndedAttempt): Promise<TrainingJob> {
    await cleanUp([before])
    return after
  }

  return {
    async claimJob(claim) {
      const { ended, claimed } = await writeTraining(db, (writes) => writes.claim_job(claim))
      await cleanUp(ended)
      return claimed
    },
    findLeased: (lease) => runSteps(db, findLeased(lease)),
    renewLease: (lease, renewal) =>
      writeTraining(db, (writes) => writes.renew_lease({ lease, ...renewal })),
    recordEvents: (lease, events) =>
      writeTraining(db, (writes) => writes.record_events({ lease, events })),
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
      const { ended, checkpoint } = await writeAndNotify(db, (writes) =>
        writes.complete_job({ lease, outcome }),
      )
      if (ended !== null) await cleanUp([ended])
      if (checkpoint === null) throw leaseLost()
      return checkpoint
    },
    failAttempt: async (lease, failure, end) =>
      finish(await writeAndNotify(db, (writes) => writes.fail_attempt({ lease, failure, end }))),
    releaseJob: async (lease) =>
      finish(await writeAndNotify(db, (writes) => writes.release_job(lease))),
    async endOverdue(times) {
      const ended = await writeTraining(db, (writes) => writes.end_overdue(times))
      await cleanUp(ended)
      return ended.length
    },
    nextDueUs: (now_us, queue_timeout_ms) =>
      runSteps(db, findNextDueUs(QUEUE, now_us, queue_timeout_ms)),
    resumeLeases: (now_us, lease_ms, moved_us) =>
      writeTraining(db, (writes) => writes.resume_leases({ now_us, lease_ms, moved_us })),
    onChange: bell.listen,
  }
}

/** Makes received bytes the artifact of the attempt; what was staged before is removed. */
async function stage(
  { db, blobs }: QueueParts,
  lease: Lease,
  { path, sha256, bytes }: ReceivedBlob & { readonly path: string },
): Promise<void> {
  const staged = { staged_path: path, staged_sha256: sha256, staged_bytes: bytes }
  const replaced = await writeTraining(db, (writes) => writes.stage_artifact({ lease, staged }))
  await blobs.removeUnused([replaced])
}
