/** Training jobs and their events in the format of the API. Pure. */
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import type { TrainingJobResponse } from '../../schemas/training/training-job.ts'
import type {
  JobEventResponse,
  TrainingJobDetail,
} from '../../schemas/training/training-job-view.ts'
import type { JobEventType } from '../../schemas/training/worker.ts'
import { renderWorker } from '../models/checkpoint.ts'
import { toPage } from '../query/page.ts'
import type { TrainingJob } from './training-job.ts'

/** A created job as the API shows it. Spec: §4.8 (response not shown). */
export function renderJob({
  id,
  state,
  model_id,
  created_at_us,
}: TrainingJob): TrainingJobResponse {
  return { id, status: state, model_id, created_at: renderTimestamp(created_at_us) }
}

/** A job with all that is known of it. @param step - of its result, or null */
export function renderJobDetail(job: TrainingJob, step: number | null): TrainingJobDetail {
  const { error_code, error_message, result_checkpoint_id } = job
  return {
    ...renderJob(job),
    started_at: renderTimestampOrNull(job.started_at_us),
    finished_at: renderTimestampOrNull(job.finished_at_us),
    attempt: job.attempt,
    max_attempts: job.max_attempts,
    cancel_requested: job.cancel_requested === 1,
    last_heartbeat_at: renderTimestampOrNull(job.last_heartbeat_at_us),
    progress: job.progress,
    worker: renderWorker(job),
    error: error_code === null ? null : { code: error_code, message: error_message ?? '' },
    group_count: job.group_count,
    trajectory_count: job.trajectory_count,
    trainable_count: job.trainable_count,
    policy_lag: job.policy_lag,
    source: job.source_json && JSON.parse(job.source_json),
    resolved_config: job.resolved_config_json && JSON.parse(job.resolved_config_json),
    parent_checkpoint_id: job.parent_checkpoint_id,
    checkpoint:
      result_checkpoint_id === null || step === null ? null : { id: result_checkpoint_id, step },
    untrained_reason: job.untrained_reason as TrainingJobDetail['untrained_reason'],
  }
}

/** A page of jobs. */
export function renderJobPage(
  views: readonly { readonly job: TrainingJob; readonly result_step: number | null }[],
  limit: number,
) {
  const rows = views.map(({ job, result_step }) => renderJobDetail(job, result_step))
  return toPage(rows, limit)
}

/** A page of events. */
export function renderEventPage(
  events: readonly {
    readonly id: string
    readonly type: JobEventType
    readonly data_json: string
  }[],
  limit: number,
) {
  const rows: JobEventResponse[] = events.map(({ id, type, data_json }) => {
    return { id, type, data: JSON.parse(data_json) as JsonObject }
  })
  return toPage(rows, limit)
}
