/** Training jobs: creation from a request, comparison with a repeated request. Pure. */
import { ApiError } from '../../errors.ts'
import type {
  TrainingJobCreateRequest,
  TrainingJobState,
} from '../../schemas/training/training-job.ts'
import { splitMembers } from '../json/json-members.ts'
import { countTrajectories, type TrajectoryCounts } from './trajectory-counts.ts'

/** Limit: characters of experimental_config; it is kept in the row, and ten settings need 500. */
const CONFIG_CHARS_MAX = 65_536

/** The content of a job as a client sends it. */
export interface JobContent extends TrajectoryCounts {
  /** In lower case. */
  readonly model_id: string
  /** experimental_config as it was sent; null when it was null or absent. */
  readonly config_json: string | null
}

/** A job that is about to be stored. */
export interface NewTrainingJob extends Omit<JobContent, 'policy_versions'> {
  /** A UUID in lower case. */
  readonly id: string
  readonly idempotency_key: string | null
  /** The lowest step of its model by which rollouts were begun; null when none is known. */
  readonly oldest_policy_version: number | null
  /** Which calls it was made of, as JSON; null: it was sent as trajectories. */
  readonly source_json: string | null
  readonly created_at_us: number
  /** svc_user_id of its maker. */
  readonly created_by: string
}

/** A stored job. Times are microseconds since the epoch; null what has not happened. */
export interface TrainingJob extends NewTrainingJob {
  /** Position in the model's queue, from 1, without gaps. */
  readonly seq: number
  readonly state: TrainingJobState
  /** Number of the last attempt; 0 before the first. Never goes back. */
  readonly attempt: number
  /** Attempts that are not counted, because their workers released the job. */
  readonly released_count: number
  readonly max_attempts: number
  /** Time before which no attempt begins. */
  readonly available_at_us: number
  readonly resolved_config_json: string | null
  readonly parent_checkpoint_id: string | null
  /** The parent's step less the oldest policy of the rollouts; null when that is not known to be before it. */
  readonly policy_lag: number | null
  readonly worker_id: string | null
  readonly worker_version: string | null
  /** SHA-256 of the lease token, in hex; stays after a success, for a repeated complete. */
  readonly lease_token_hash: string | null
  readonly lease_expires_at_us: number | null
  readonly attempt_deadline_us: number | null
  readonly last_heartbeat_at_us: number | null
  /** 0..1, as reported by the worker. */
  readonly progress: number | null
  readonly cancel_requested: 0 | 1
  /** The uploaded artifact, relative to the data directory; all three or none. */
  readonly staged_path: string | null
  readonly staged_sha256: string | null
  readonly staged_bytes: number | null
  readonly untrained_reason: string | null
  readonly error_code: string | null
  readonly error_message: string | null
  readonly result_checkpoint_id: string | null
  /** Start of the last attempt. */
  readonly started_at_us: number | null
  readonly finished_at_us: number | null
  /** File of the trajectory groups, relative to the data directory. */
  readonly payload_path: string
  /** SHA-256 of that file, in hex. */
  readonly payload_sha256: string
  readonly payload_bytes: number
}

/**
 * Returns the content of a job from its request, and the text of its trajectory groups.
 *
 * @param bodyText - the JSON that `request` was parsed from
 *
 * Spec: §2.12, §4.8. Choice: groups and config are kept as they were sent; defaults are filled in
 * when the job runs, so that a later default can be told from a choice of the client's.
 *
 * @throws ApiError validation_failed when the config is too long
 */
export function readJobContent(
  request: TrainingJobCreateRequest,
  bodyText: string,
): { readonly content: JobContent; readonly payload: string } {
  const members = splitMembers(bodyText)
  const payload = members.get('trajectory_groups')
  if (payload === undefined) throw new TypeError('the body was read without its text')
  const sentConfig = members.get('experimental_config')
  const config_json = request.experimental_config && sentConfig ? sentConfig : null
  if (config_json !== null && config_json.length > CONFIG_CHARS_MAX) {
    throw new ApiError('validation_failed', {
      message: `experimental_config must have at most ${CONFIG_CHARS_MAX} characters`,
      param: 'experimental_config',
    })
  }
  const counts = countTrajectories(request.trajectory_groups)
  const model_id = request.model_id.toLowerCase()
  return { content: { ...counts, model_id, config_json }, payload }
}

/**
 * Refuses a job whose idempotency key was used for a different one.
 *
 * Spec: §4.8 (retries not shown).
 * Choice: the same request is the same model, groups and config, each letter by letter.
 *
 * @throws ApiError idempotency_conflict, with the header that stops SDKs from trying again
 */
export function requireSameJob(
  stored: TrainingJob,
  sent: Pick<TrainingJob, 'payload_sha256' | 'config_json'>,
): TrainingJob {
  const isSame =
    stored.payload_sha256 === sent.payload_sha256 && stored.config_json === sent.config_json
  if (isSame) return stored
  throw new ApiError('idempotency_conflict', {
    param: 'Idempotency-Key',
    headers: { 'x-should-retry': 'false' },
  })
}
