/** The decisions of the training queue, for any store. Pure. */
import { ApiError } from '../../errors.ts'
import { canUseProject } from '../access/permissions.ts'
import type { Artifact } from '../models/checkpoint.ts'
import { modelProjectId, type PreviewModel } from '../models/preview-model.ts'
import type { TrainingJob } from './training-job.ts'

const US_PER_MS = 1000
/** Limit: events of one attempt. */
const ATTEMPT_EVENTS_MAX = 100_000

interface WorkerWants {
  readonly base_models: readonly string[]
  /** Patterns of projects. */
  readonly projects: readonly string[]
}

/** Whether a worker accepts jobs of a model. */
export function acceptsModel(
  { base_models, projects }: WorkerWants,
  model: Pick<PreviewModel, 'entity' | 'project' | 'base_model'>,
): boolean {
  return (
    base_models.includes(model.base_model) && canUseProject({ projects }, modelProjectId(model))
  )
}

/** @throws ApiError validation_failed when the attempt would have too many events */
export function requireRoomForEvents(stored: number, added: number): void {
  if (stored + added <= ATTEMPT_EVENTS_MAX) return
  const message = `An attempt has at most ${ATTEMPT_EVENTS_MAX} events.`
  throw new ApiError('validation_failed', { message, param: 'events' })
}

/** Returns the staged artifact of a job. @throws ApiError artifact_conflict when it is another than the worker names */
export function requireStaged(job: TrainingJob, sha256: string): Artifact {
  requireSameArtifact(job, sha256)
  const { staged_path: path, staged_bytes: bytes } = job
  if (path === null || bytes === null) throw artifactConflict()
  return { path, sha256, bytes }
}

/** @throws ApiError artifact_conflict */
export function requireSameArtifact({ staged_sha256 }: TrainingJob, sha256: string | null): void {
  if (staged_sha256 !== sha256) throw artifactConflict()
}

function artifactConflict(): ApiError {
  return new ApiError('artifact_conflict', {
    message: 'The sha256 does not match the uploaded artifact.',
    param: 'sha256',
    headers: { 'x-should-retry': 'false' },
  })
}

/** The next times at which the queue must act. Times in microseconds; null: nothing. */
export interface QueueWaits {
  /** When the next delayed job becomes ready. */
  readonly available_us: number | null
  /** Time since which the longest-waiting job has waited. */
  readonly waits_since_us: number | null
}

/** Returns when the first lease, delay or wait ends. @param queue_timeout_ms - 0: no wait ends */
export function firstDueUs(
  lease_us: number | null,
  { available_us, waits_since_us }: QueueWaits,
  queue_timeout_ms: number,
): number | null {
  const isEndless = queue_timeout_ms === 0 || waits_since_us === null
  const timeout_us = isEndless ? null : waits_since_us + queue_timeout_ms * US_PER_MS
  const dues = [lease_us, available_us, timeout_us].filter((due) => due !== null)
  return dues.length === 0 ? null : Math.min(...dues)
}
