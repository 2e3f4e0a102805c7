/** The moves of a worker that holds a job, except the one that completes it. */
import type { TrainingJob } from '../../../domain/training/training-job.ts'
import {
  failAttempt,
  type Moved,
  releaseJob,
  renewLease,
} from '../../../domain/training/training-moves.ts'
import { ApiError } from '../../../errors.ts'
import type { Lease, TrainingQueue } from '../../api/training-queue.ts'
import { toStoreError } from '../db/store-error.ts'
import { receiveArtifact } from '../models/receive-artifact.ts'
import type { QueueParts, QueueRows } from './queue-rows.ts'
import * as EVENTS from './training-events.sql.ts'

/** Limit: events of one attempt. */
export const ATTEMPT_EVENTS_MAX = 100_000

type QueueLeases = Pick<
  TrainingQueue,
  | 'findLeased'
  | 'renewLease'
  | 'recordEvents'
  | 'receiveArtifact'
  | 'stageArtifact'
  | 'failAttempt'
  | 'releaseJob'
>

export function createQueueLeases(parts: QueueParts, rows: QueueRows): QueueLeases {
  const { db, commit, moves, artifacts, newId } = parts
  const countEvents = db.prepare(EVENTS.COUNT_EVENTS).pluck()

  /** Ends the attempt. */
  async function end(lease: Lease, move: (job: TrainingJob) => Moved): Promise<TrainingJob> {
    const { before, after } = await commit.write(() => {
      const before = rows.requireLeased(lease)
      return { before, after: moves.save(before, move(before), { now_us: lease.now_us, newId }) }
    })
    await rows.cleanUp([before])
    return after
  }

  return {
    async findLeased(lease) {
      try {
        const job = rows.requireLeased(lease)
        const parent = rows.findCheckpoint(job.parent_checkpoint_id)
        return { job, model: rows.findModel(job.model_id), parent }
      } catch (error) {
        throw toStoreError(error)
      }
    },
    renewLease: (lease, { lease_ms, progress }) =>
      commit.write(() => {
        const { now_us } = lease
        const job = rows.requireLeased(lease)
        const renewed = {
          ...renewLease(job, { now_us, lease_ms }),
          last_heartbeat_at_us: now_us,
          progress: progress ?? job.progress,
        }
        return moves.save(job, { job: renewed, event: null }, { now_us, newId })
      }),
    recordEvents: (lease, events) =>
      commit.write(() => {
        const job = rows.requireLeased(lease)
        const count = countEvents.get({ job_id: job.id, attempt: job.attempt }) as number
        if (count + events.length > ATTEMPT_EVENTS_MAX) {
          const message = `An attempt has at most ${ATTEMPT_EVENTS_MAX} events.`
          throw new ApiError('validation_failed', { message, param: 'events' })
        }
        for (const event of events) moves.addEvent(job, event, { now_us: lease.now_us, newId })
      }),
    receiveArtifact: (source, bytesMax) => receiveArtifact(source, bytesMax, artifacts.folder),
    async stageArtifact(lease, file) {
      const staged_path = artifacts.pathOf(rows.requireLeased(lease), newId())
      await file.keep(staged_path)
      try {
        const replaced = await commit.write(() => {
          const job = rows.requireLeased(lease)
          const staged = { staged_path, staged_sha256: file.sha256, staged_bytes: file.bytes }
          const context = { now_us: lease.now_us, newId }
          moves.save(job, { job: { ...job, ...staged }, event: null }, context)
          return job.staged_path
        })
        await artifacts.removeUnused([replaced])
      } catch (error) {
        await artifacts.removeUnused([staged_path])
        throw error
      }
    },
    failAttempt: (lease, failure, times) => end(lease, (job) => failAttempt(job, failure, times)),
    releaseJob: (lease) => end(lease, (job) => releaseJob(job, lease.now_us)),
  }
}
