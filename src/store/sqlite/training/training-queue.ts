/** The queue of training jobs in SQLite: transitions are writes (queue-writes.ts); leftover files are removed here. */
import { randomUUID } from 'node:crypto'
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import type { Lease, TrainingQueue } from '../../api/training/training-queue.ts'
import { findCheckpoint } from '../../base/models/checkpoint-steps.ts'
import type { JobBell } from '../../base/training/job-bell.ts'
import { findLeased, findNextDueUs, requireLeased } from '../../base/training/job-steps.ts'
import type { EndedAttempt } from '../../base/training/queue-writes.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import { type ReceivedBytes, receiveBytes } from '../files/receive-file.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import type { Writes } from '../write/writes.ts'
import { QUEUE } from './training-queue.sql.ts'

interface QueueParts {
  /** For reads on this thread. */
  readonly db: Connection
  readonly writes: Writes
  readonly bell: JobBell
  readonly artifacts: CheckpointArtifacts
}

export function createTrainingQueue(parts: QueueParts): TrainingQueue {
  const { db, writes, bell } = parts
  const read = createStepReader(db)
  const cleanUp = createCleanUp(parts)
  const stage = createStaging(parts)

  async function finish({ before, after }: EndedAttempt): Promise<TrainingJob> {
    await cleanUp([before])
    return after
  }

  return {
    async claimJob(claim) {
      const { ended, claimed } = await writes.run('claim_job', claim)
      await cleanUp(ended)
      return claimed
    },
    findLeased: (lease) => read(findLeased(lease)),
    renewLease: (lease, renewal) => writes.run('renew_lease', { lease, ...renewal }),
    recordEvents: (lease, events) => writes.run('record_events', { lease, events }),
    async receiveArtifact(source, bytesMax) {
      const file = await receiveBytes(source, bytesMax, parts.artifacts.folder)
      const { sha256, bytes, discard } = file
      return { sha256, bytes, stage: (lease) => stage(lease, file), discard }
    },
    async completeJob(lease, outcome) {
      const { ended, checkpoint } = await writes.run('complete_job', { lease, outcome })
      if (ended !== null) await cleanUp([ended])
      if (checkpoint === null) throw leaseLost()
      return checkpoint
    },
    failAttempt: async (lease, failure, end) =>
      finish(await writes.run('fail_attempt', { lease, failure, end })),
    releaseJob: async (lease) => finish(await writes.run('release_job', lease)),
    async endOverdue(times) {
      const ended = await writes.run('end_overdue', times)
      await cleanUp(ended)
      return ended.length
    },
    nextDueUs: (now_us, queue_timeout_ms) => read(findNextDueUs(QUEUE, now_us, queue_timeout_ms)),
    resumeLeases: (now_us, lease_ms, moved_us) =>
      writes.run('resume_leases', { now_us, lease_ms, moved_us }),
    onChange: bell.listen,
  }
}

/**
 * Returns a function to call after the commit of ended attempts, with the jobs as they were before. It wakes waiting
 * workers, and removes staged files and hidden parents that are not needed any more. Never fails, as the commit stands.
 */
function createCleanUp({ db, bell, artifacts }: QueueParts) {
  const read = createStepReader(db)
  async function findParentPath({ parent_checkpoint_id }: TrainingJob): Promise<string | null> {
    const parent = await read(findCheckpoint(parent_checkpoint_id)).catch(() => null)
    return parent?.artifact?.path ?? null
  }
  return async (ended: readonly TrainingJob[]): Promise<void> => {
    if (ended.length === 0) return
    bell.ring()
    for (const job of ended) {
      await artifacts.removeUnused([job.staged_path, await findParentPath(job)])
    }
  }
}

function createStaging({ db, writes, artifacts }: QueueParts) {
  const read = createStepReader(db)
  return async (lease: Lease, file: ReceivedBytes): Promise<void> => {
    const staged_path = artifacts.pathOf(await read(requireLeased(lease)), randomUUID())
    await file.keep(staged_path)
    try {
      const staged = { staged_path, staged_sha256: file.sha256, staged_bytes: file.bytes }
      const replaced = await writes.run('stage_artifact', { lease, staged })
      await artifacts.removeUnused([replaced])
    } catch (error) {
      await artifacts.removeUnused([staged_path])
      throw error
    }
  }
}
