/**
 * Runs of datasets, by which the JavaScript SDK begins an experiment. They are runs of evaluations, whose trials come as
 * spans. Additions to the spec.
 */
import { createHash } from 'node:crypto'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { StoredCall } from '../../domain/calls/call-view.ts'
import {
  EVALUATION_OPS,
  PREDICT_AND_SCORE_OP,
} from '../../domain/calls/evaluations/evaluation-calls.ts'
import { objectOrEmpty, textOrEmpty, textOrNull } from '../../domain/json/json-values.ts'
import { renderDataset } from '../../domain/langfuse/dataset-items.ts'
import { cutPage } from '../../domain/langfuse/pages.ts'
import { hashedUuid } from '../../domain/objects/hashed-uuid.ts'
import { objectIdOf } from '../../domain/objects/object-kinds.ts'
import { toRunParts } from '../../domain/otel/experiments.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import {
  DatasetPath,
  DatasetsQuery,
  RunItemBody,
  RunItemsQuery,
  RunPath,
} from '../../schemas/langfuse/dataset.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { Stores } from '../../store/api/stores.ts'
import { type CallDeleter, deleteTaggedCalls } from '../calls/call-tags.ts'
import { createEvaluationReader } from '../calls/evaluation-store.ts'
import type { DatasetReader } from './dataset-reader.ts'
import { findItem } from './datasets.ts'

export interface RunOptions extends Pick<Stores, 'callsQuery'>, CallDeleter, Pick<Clock, 'nowUs'> {
  readonly datasets: DatasetReader
}

/** Limit: runs of a dataset in a list, and items of one run. */
const RUNS_MAX = 1000
const RUN_ITEMS_MAX = 10_000
const ID_CHARS = 16

/** The id that the Python SDK computes for a run, too; the length is in characters of hex. */
function runIdOf(project_id: string, dataset_id: string, name: string): string {
  const parts = ['langfuse-experiment-v1', project_id, dataset_id, name]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, ID_CHARS)
}

// Numbers of metadata are stored as they were sent.
const config = { body: 'exact' } as const

export async function runRoutes(app: App, options: RunOptions): Promise<void> {
  addRunItem(app, options)
  addRunItems(app, options)
  addRuns(app, options)
  addRunDelete(app, options)
}

function addRunItem(app: App, options: RunOptions): void {
  const { calls, datasets, refScheme, nowUs } = options
  const schema = { body: RunItemBody }
  app.post('/dataset-run-items', { config, schema }, async (request, reply) => {
    const { project_id, principal, reader } = requireLangfuseCaller(request, reply, 'traces:write')
    const { runName: name, datasetItemId, traceId, observationId, ...about } = request.body
    const { version } = (await findItem(datasets, datasetItemId, reader)).dataset
    const dataset_id = version.object_id
    const id = runIdOf(project_id, dataset_id, name)
    if ((await calls.findCall(project_id, id)) === null) {
      const atUs = nowUs()
      const { runDescription: description = null, metadata = null } = about
      const run = { project_id, id, name, description, metadata, dataset_id }
      const times = { started_at_us: atUs, ended_at_us: atUs }
      const parts = toRunParts({ ...run, ...times }, refScheme, principal)
      const [written] = await calls.writeParts([parts])
      // Another item of the run may have begun it meanwhile.
      if (written?.error && written.error.code !== 'call_conflict') throw written.error
    }
    const at = renderTimestamp(nowUs())
    return {
      id: hashedUuid([project_id, id, datasetItemId, traceId]),
      datasetRunId: id,
      datasetRunName: name,
      datasetItemId,
      traceId: traceId ?? '',
      observationId: observationId ?? null,
      createdAt: at,
      updatedAt: at,
    }
  })
}

function renderRun(call: StoredCall, dataset: { readonly id: string; readonly name: string }) {
  const about = objectOrEmpty(call.attributes.langfuse)
  return {
    id: call.id,
    name: textOrEmpty(call.inputs.model),
    description: textOrNull(about.description),
    metadata: about.metadata ?? null,
    datasetId: dataset.id,
    datasetName: dataset.name,
    createdAt: renderTimestamp(call.started_at_us),
    updatedAt: renderTimestamp(call.ended_at_us ?? call.started_at_us),
  }
}

/** The items of a run: its trials, in order of their start. */
async function readRunItems(options: RunOptions, reader: ReadCaller, run: StoredCall) {
  const items = []
  const filter = { parent_ids: [run.id], op_names: [PREDICT_AND_SCORE_OP] }
  for await (const call of createEvaluationReader(options, reader)(filter)) {
    const at = renderTimestamp(call.started_at_us)
    items.push({
      id: call.id,
      datasetRunId: run.id,
      datasetRunName: textOrEmpty(run.inputs.model),
      datasetItemId: textOrEmpty(objectOrEmpty(call.inputs.example).id),
      traceId: call.trace_id,
      observationId: call.id,
      createdAt: at,
      updatedAt: at,
    })
    if (items.length === RUN_ITEMS_MAX) break
  }
  return items
}

/** @throws ApiError call_not_found */
async function requireRun(
  { calls }: RunOptions,
  project_id: string,
  datasetId: string,
  name: string,
) {
  const run = await calls.findCall(project_id, runIdOf(project_id, datasetId, name))
  if (run !== null) return run
  const message = `There is no run ${JSON.stringify(name)} of this dataset.`
  throw new ApiError('call_not_found', { param: 'runName', message })
}

function addRunItems(app: App, options: RunOptions): void {
  const schema = { querystring: RunItemsQuery }
  app.get('/dataset-run-items', { schema }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { datasetId, runName, ...page } = request.query
    const run = await requireRun(options, project_id, datasetId, runName)
    return cutPage(await readRunItems(options, reader, run), page)
  })
}

function addRuns(app: App, options: RunOptions): void {
  const { datasets, refScheme } = options
  const url = '/datasets/:datasetName/runs'
  const schema = { params: DatasetPath, querystring: DatasetsQuery }
  app.get(url, { schema }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { version, val } = await datasets.requireDataset(project_id, request.params.datasetName)
    const dataset = renderDataset(version, val)
    const input_refs = [`${refScheme}:///${project_id}/object/${version.object_id}:latest`]
    const filter = { op_names: [EVALUATION_OPS.evaluation_run], input_refs }
    const runs = []
    for await (const call of createEvaluationReader(options, reader)(filter)) {
      runs.push(renderRun(call, dataset))
      if (runs.length === RUNS_MAX) break
    }
    return cutPage(runs, request.query)
  })
  app.get(`${url}/:runName`, { schema: { params: RunPath } }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { datasetName, runName } = request.params
    const id = objectIdOf(datasetName)
    const run = await requireRun(options, project_id, id, runName)
    const dataset = { id, name: datasetName }
    return { ...renderRun(run, dataset), datasetRunItems: await readRunItems(options, reader, run) }
  })
}

/** Deletes a run with its trials and their tags. Its name cannot be used again: the id that follows from it stays deleted. */
function addRunDelete(app: App, options: RunOptions): void {
  const schema = { params: RunPath }
  app.delete('/datasets/:datasetName/runs/:runName', { schema }, async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:write')
    const { datasetName, runName } = request.params
    const { id } = await requireRun(options, project_id, objectIdOf(datasetName), runName)
    const deletion = { project_id, ids: [id], deleted_at_us: options.nowUs() }
    await deleteTaggedCalls(options, request, deletion)
    return { message: 'Dataset run successfully deleted' }
  })
}
