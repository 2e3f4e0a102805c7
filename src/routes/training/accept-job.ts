/** Queues the training job that a body describes, whoever wrote the body. */
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Principal } from '../../domain/access/permissions.ts'
import { requireUsableModel } from '../../domain/models/preview-model.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { createOrderedIds } from '../../domain/time/ordered-ids.ts'
import type { TrainingJob } from '../../domain/training/training-job.ts'
import { oldestVersionOf } from '../../domain/training/trajectory-counts.ts'
import type { PreviewModelStore } from '../../store/api/models/checkpoints.ts'
import type { TrainingJobStore } from '../../store/api/training/training-queue.ts'
import type { TrainingIntake } from '../../training/jobs/training-intake.ts'

interface JobAcceptorOptions extends Pick<Clock, 'nowUs'> {
  readonly models: PreviewModelStore
  readonly jobs: TrainingJobStore
  readonly intake: TrainingIntake
}

interface JobSender {
  readonly caller: Principal
  readonly idempotency_key: string | null
  /** Which calls the job was made of. Default: it was sent as trajectories. */
  readonly source?: object
}

/** Stores a job of a body that is read to its end. */
export type AcceptJob = (source: Readable | undefined, sender: JobSender) => Promise<TrainingJob>

export function createJobAcceptor({ models, jobs, intake, nowUs }: JobAcceptorOptions): AcceptJob {
  const newId = createOrderedIds(nowUs, randomBytes)
  return async (source, { caller, idempotency_key, source: calls = null }) => {
    const { content, payload, discard } = await intake.receive(source)
    try {
      const { policy_versions, ...sent } = content
      const { name } = requireUsableModel(await models.findModel(sent.model_id), caller)
      const oldest_policy_version = oldestVersionOf(name, policy_versions)
      const created = { id: newId(), created_at_us: nowUs(), created_by: caller.svc_user_id }
      const source_json = calls && JSON.stringify(calls)
      const job = { ...sent, ...created, oldest_policy_version, idempotency_key, source_json }
      return await jobs.insertJob(job, payload)
    } finally {
      await discard()
    }
  }
}
