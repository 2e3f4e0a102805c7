/** Training jobs, models and checkpoints, as the API gives them. */
import type { z } from 'zod'
import type { CheckpointResponse } from '../../schemas/models/checkpoint.ts'
import type { PreviewModelResponse } from '../../schemas/models/preview-model.ts'
import type {
  JobEventResponse,
  TrainingJobDetail,
} from '../../schemas/training/training-job-view.ts'
import { requestJson } from '../api/client.ts'

export type Model = z.infer<typeof PreviewModelResponse>
export type Job = TrainingJobDetail
export type Checkpoint = CheckpointResponse
export type JobEvent = z.infer<typeof JobEventResponse>

const BASE = '/v1/preview'
export const JOBS_FROM_CALLS = `${BASE}/training-jobs/from-calls`
/** Limit: what a page of a list may hold. */
const PAGE_ROWS = 100
/** Limit: rows that are read of a list; the rest is left out. */
const ROWS_MAX = 5000

interface Known {
  readonly id: string
}

interface Page<Row> {
  readonly data: readonly Row[]
  readonly has_more: boolean
}

/** Reads the rows of a list after the known ones. @throws ApiFailure */
async function readOn<Row extends Known>(
  path: string,
  known: readonly Row[],
  signal: AbortSignal,
): Promise<Row[]> {
  const rows = [...known]
  while (rows.length < ROWS_MAX) {
    const { data, has_more } = await readPage<Row>(path, { after: rows.at(-1)?.id ?? '' }, signal)
    rows.push(...data)
    if (!has_more) break
  }
  return rows
}

/**
 * Reads a list, the newest first. If part of it is known, only pages with new rows are read, usually just the first.
 *
 * @throws ApiFailure
 */
async function readNewest<Row extends Known>(
  path: string,
  query: Readonly<Record<string, string>>,
  known: readonly Row[],
  signal: AbortSignal,
): Promise<Row[]> {
  const rows: Row[] = []
  while (rows.length < ROWS_MAX) {
    const asked = { ...query, order: 'desc', after: rows.at(-1)?.id ?? '' }
    const { data, has_more } = await readPage<Row>(path, asked, signal)
    rows.push(...data)
    if (!has_more) break
    const at = known.findIndex(({ id }) => id === rows.at(-1)?.id)
    if (at >= 0) return [...rows, ...known.slice(at + 1)].slice(0, ROWS_MAX)
  }
  return rows
}

function readPage<Row>(
  path: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Page<Row>> {
  const names = new URLSearchParams({ ...query, limit: String(PAGE_ROWS) })
  return requestJson(`${path}?${names}`, undefined, { signal })
}

/** The newest first. @param known - the last result */
export function readModels(
  project_id: string,
  known: readonly Model[],
  signal: AbortSignal,
): Promise<Model[]> {
  return readNewest(`${BASE}/models`, { project_id }, known, signal)
}

/**
 * The jobs of a model, the newest first. Of a long queue only its two ends are read again, since workers take the oldest
 * jobs and new ones are added after the newest, and one page in between, since any job may be cancelled.
 *
 * @param known - the last result
 * @param turn - selects that page; the next number selects the next page
 */
export async function readJobs(
  project_id: string,
  model_id: string,
  known: readonly Job[],
  turn: number,
  signal: AbortSignal,
): Promise<Job[]> {
  const path = `${BASE}/training-jobs`
  const query = { project_id, model_id }
  const jobs = await readNewest(path, query, known, signal)
  const oldest = jobs.findLastIndex((job) => !isOver(job))
  if (known.length === 0 || oldest < PAGE_ROWS) return jobs
  const asked = [{ ...query, order: 'asc', after: jobs[oldest + 1]?.id ?? '' }]
  const between = Math.ceil((oldest + 1) / PAGE_ROWS) - 2
  if (between > 0) {
    const first = PAGE_ROWS * (1 + (turn % between))
    asked.push({ ...query, order: 'desc', after: jobs[first - 1]?.id ?? '' })
  }
  const pages = await Promise.all(asked.map((names) => readPage<Job>(path, names, signal)))
  const fresh = new Map(pages.flatMap(({ data }) => data.map((job) => [job.id, job])))
  return jobs.map((job) => fresh.get(job.id) ?? job)
}

export function readJob(id: string, signal: AbortSignal): Promise<Job> {
  return requestJson(`${BASE}/training-jobs/${encodeURIComponent(id)}`, undefined, { signal })
}

export function readModel(id: string, signal: AbortSignal): Promise<Model> {
  return requestJson(`${BASE}/models/${encodeURIComponent(id)}`, undefined, { signal })
}

/** The events of the last attempt of a job. @param known - events read before, if they are of the same attempt */
export function readEvents(
  id: string,
  known: readonly JobEvent[],
  signal: AbortSignal,
): Promise<JobEvent[]> {
  return readOn(eventsPath(id), known, signal)
}

export function eventsPath(job: string): string {
  return `${BASE}/training-jobs/${encodeURIComponent(job)}/events`
}

/** Checkpoints, the last step first. @param known - the last result */
export function readCheckpoints(
  modelId: string,
  known: readonly Checkpoint[],
  signal: AbortSignal,
): Promise<Checkpoint[]> {
  return readNewest(checkpointsPath(modelId), {}, known, signal)
}

export function checkpointsPath(modelId: string): string {
  return `${BASE}/models/${encodeURIComponent(modelId)}/checkpoints`
}

export function cancelJob(id: string): Promise<Job> {
  const path = `${BASE}/training-jobs/${encodeURIComponent(id)}/cancel`
  return requestJson(path, undefined, { method: 'POST' })
}

/** Returns the model of that name; creates it when it is missing. */
export function makeModel(project_id: string, name: string, base_model: string): Promise<Model> {
  const [entity, project] = project_id.split('/')
  return requestJson(`${BASE}/models`, { entity, project, name, base_model, return_existing: true })
}

/** The name of the model that is trained on shuffled rewards beside another one. */
export function controlOf(model: string): string {
  return `${model}-control`
}

export function isOver({ status }: Job): boolean {
  return status !== 'queued' && status !== 'running'
}
