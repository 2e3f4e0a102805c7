/** Training jobs: made from a request, compared with what a client sends again, shown. Pure. */
import { ApiError } from '../errors.ts'
import { renderTimestamp } from '../schemas/timestamp.ts'
import type {
  TrainingJobCreateRequest,
  TrainingJobResponse,
  TrainingJobState,
} from '../schemas/training-job.ts'
import { splitMembers } from './json-members.ts'
import { countTrajectories, type TrajectoryCounts } from './trajectory-counts.ts'

/** Limit: characters of experimental_config; it is kept in the row, and ten settings need 500. */
export const CONFIG_CHARS_MAX = 65_536

/** A job that is about to be stored. */
export interface NewTrainingJob extends TrajectoryCounts {
  /** A UUID in lower case. */
  readonly id: string
  readonly model_id: string
  /** experimental_config as it was sent; null when it was null or absent. */
  readonly config_json: string | null
  readonly idempotency_key: string | null
  readonly created_at_us: number
  /** svc_user_id of its maker. */
  readonly created_by: string
}

/** A stored job. */
export interface TrainingJob extends NewTrainingJob {
  /** Place in the model's queue, from 1, without gaps. */
  readonly seq: number
  readonly state: TrainingJobState
  /** File of the trajectory groups, relative to the data directory. */
  readonly payload_path: string
  /** SHA-256 of that file, in hex. */
  readonly payload_sha256: string
  readonly payload_bytes: number
}

export interface JobDefaults {
  readonly id: string
  readonly model_id: string
  readonly idempotency_key: string | null
  readonly created_at_us: number
  readonly svc_user_id: string
}

/**
 * Resolves a job and the text of its trajectory groups.
 *
 * @param bodyText - the JSON that `request` was parsed from
 *
 * Spec: §2.12, §4.8. Choice: groups and config are kept as they were sent; defaults are filled in
 * when the job runs, so that a later default can be told from a choice of the client's.
 *
 * @throws ApiError validation_failed when the config is too long
 */
export function resolveNewJob(
  request: TrainingJobCreateRequest,
  bodyText: string,
  { svc_user_id, ...defaults }: JobDefaults,
): { readonly job: NewTrainingJob; readonly payload: string } {
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
  return { job: { ...defaults, ...counts, config_json, created_by: svc_user_id }, payload }
}

/**
 * Refuses a job whose idempotency key stands for another one.
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

/** A job as the API shows it. */
export function renderJob({
  id,
  state,
  model_id,
  created_at_us,
}: TrainingJob): TrainingJobResponse {
  return { id, status: state, model_id, created_at: renderTimestamp(created_at_us) }
}
