/** Training jobs, models and checkpoints, as the API gives them. */
import type { z } from 'zod'
import type { CheckpointResponse } from '../../schemas/models/checkpoint.ts'
import type { PreviewModelResponse } from '../../schemas/models/preview-model.ts'
import type {
  JobEventResponse,
  TrainingJobDetail,
} from '../../schemas/training/training-job-view.ts'
import { ask } from '../api/client.ts'

export type Model = z.infer<typeof PreviewModelResponse>
export type Job = TrainingJobDetail
export type Checkpoint = CheckpointResponse
export type JobEvent = z.infer<typeof JobEventResponse>

const BASE = '/v1/preview'
/** Limit: what a page of a list may hold. */
const PAGE_ROWS = 100
/** Limit: pages that are read of a list; the rest is left out. */
const PAGES_MAX = 50

interface Page<Row> {
  readonly data: readonly Row[]
  readonly has_more: boolean
  readonly last_id: string
}

/** All rows of a list, up to 5,000. @throws ApiFailure */
async function readAll<Row>(
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Row[]> {
  const rows: Row[] = []
  let after = ''
  for (let page = 0; page < PAGES_MAX; page++) {
    const names = new URLSearchParams({ ...query, after, limit: String(PAGE_ROWS) })
    const { data, has_more, last_id } = await ask<Page<Row>>(`${path}?${names}`, undefined, {
      signal,
    })
    rows.push(...data)
    if (!has_more) break
    after = last_id
  }
  return rows
}

export function readModels(project_id: string, signal: AbortSignal): Promise<Model[]> {
  return readAll(`${BASE}/models`, { project_id, order: 'desc' }, signal)
}

/** Jobs, the newest first. @param model_id - null: of all models of the project */
export function readJobs(
  project_id: string,
  model_id: string | null,
  signal: AbortSignal,
): Promise<Job[]> {
  const query = { project_id, order: 'desc', ...(model_id === null ? {} : { model_id }) }
  return readAll(`${BASE}/training-jobs`, query, signal)
}

export function readJob(id: string, signal: AbortSignal): Promise<Job> {
  return ask(`${BASE}/training-jobs/${encodeURIComponent(id)}`, undefined, { signal })
}

export function readModel(id: string, signal: AbortSignal): Promise<Model> {
  return ask(`${BASE}/models/${encodeURIComponent(id)}`, undefined, { signal })
}

export function readEvents(id: string, signal: AbortSignal): Promise<JobEvent[]> {
  return readAll(eventsPath(id), {}, signal)
}

export function eventsPath(job: string): string {
  return `${BASE}/training-jobs/${encodeURIComponent(job)}/events`
}

/** Checkpoints by their steps. */
export function readCheckpoints(modelId: string, signal: AbortSignal): Promise<Checkpoint[]> {
  return readAll(checkpointsPath(modelId), {}, signal)
}

export function checkpointsPath(modelId: string): string {
  return `${BASE}/models/${encodeURIComponent(modelId)}/checkpoints`
}

export function cancelJob(id: string): Promise<Job> {
  const path = `${BASE}/training-jobs/${encodeURIComponent(id)}/cancel`
  return ask(path, undefined, { method: 'POST' })
}

/** The model of that name, made when it is not there. */
export function makeModel(project_id: string, name: string, base_model: string): Promise<Model> {
  const [entity, project] = project_id.split('/')
  return ask(`${BASE}/models`, { entity, project, name, base_model, return_existing: true })
}

/** @param once - sent again, the same text makes no second job */
export function makeJob(job: object, once: string): Promise<{ readonly id: string }> {
  return ask(`${BASE}/training-jobs`, job, { headers: { 'idempotency-key': once } })
}

export function isOver({ status }: Job): boolean {
  return status !== 'queued' && status !== 'running'
}
