/** The queue of training jobs in SQLite and PostgreSQL alike, but for where artifacts are received. */
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import { leaseLost } from '../../../domain/training/training-states.ts'
import type { TrainingQueue } from '../../api/training/training-queue.ts'
import { findCheckpoint } from '../models/checkpoint-steps.ts'
import { findLeased, findNextDueUs } from './job-steps.ts'
import type { EndedAttempt } from './queue-writes.ts'
import type { QueueStatements } from './training-queue.sql.ts'
import type { TrainingParts } from './training-writes.ts'

export function createTrainingQueue(
  { runs: { read, write }, notifier, removeUnused }: TrainingParts,
  statements: QueueStatements,
  receiveArtifact: TrainingQueue['receiveArtifact'],
): TrainingQueue {
  /**
   * After the commit of attempts that ended, with the jobs as they were before: wakes waiting workers, and removes staged
   * files and hidden parents that are not needed any more. Never fails, as the commit stands.
   */
  async function cleanUp(ended: readonly TrainingJob[]): Promise<void> {
    if (ended.length === 0) return
    notifier.notify()
    const paths: (string | null)[] = []
    for (const { staged_path, parent_checkpoint_id } of ended) {
      const parent = await read(findCheckpoint(parent_checkpoint_id)).catch(() => null)
      paths.push(staged_path, parent?.artifact?.path ?? null)
    }
    await removeUnused(paths)
  }

  async function finish({ before, after }: EndedAttempt): Promise<TrainingJob> {
    await cleanUp([before])
    return after
  }

  return {
    async claimJob(claim) {
      const { ended, claimed } = await write('claim_job', claim)
      await cleanUp(ended)
      return claimed
    },
    findLeased: (lease) => read(findLeased(lease)),
    renewLease: (lease, renewal) => write('renew_lease', { lease, ...renewal }),
    recordEvents: (lease, events) => write('record_events', { lease, events }),
    receiveArtifact,
    async completeJob(lease, outcome) {
      const { ended, checkpoint } = await write('complete_job', { lease, outcome })
      if (ended !== null) await cleanUp([ended])
      if (checkpoint === null) throw leaseLost()
      return checkpoint
    },
    failAttempt: async (lease, failure, end) =>
      finish(await write('fail_attempt', { lease, failure, end })),
    releaseJob: async (lease) => finish(await write('release_job', lease)),
    async endOverdue(times) {
      const ended = await write('end_overdue', times)
      await cleanUp(ended)
      return ended.length
    },
    nextDueUs: (now_us, queue_timeout_ms) =>
      read(findNextDueUs(statements, now_us, queue_timeout_ms)),
    resumeLeases: (now_us, lease_ms, moved_us) =>
      write('resume_leases', { now_us, lease_ms, moved_us }),
    onChange: notifier.listen,
  }
}
