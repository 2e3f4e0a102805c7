/** Datasets of Langfuse's SDKs and their items, kept as datasets of Weft. Additions to the spec. */
import { type ReadCaller, requireWaiting } from '../../domain/access/read-caller.ts'
import { type ItemEntry, renderDataset, renderItem } from '../../domain/langfuse/dataset-items.ts'
import { cutPage } from '../../domain/langfuse/pages.ts'
import type { ObjectVersion } from '../../domain/objects/object-view.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import { newId } from '../../http/new-id.ts'
import {
  DatasetBody,
  DatasetItemBody,
  DatasetItemPath,
  DatasetItemsQuery,
  DatasetPath,
  DatasetsQuery,
} from '../../schemas/langfuse/dataset.ts'
import { OBJECTS_LIMIT_MAX } from '../../schemas/objects/object.ts'
import { renderTimestamp, timestampUs } from '../../schemas/timestamp.ts'
import type { NewRow } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { type Dataset, type DatasetReader, itemNotFound } from './dataset-reader.ts'
import type { DatasetWriter } from './dataset-writer.ts'

interface DatasetOptions extends Pick<Stores, 'audit' | 'objects'> {
  readonly datasets: DatasetReader
  readonly writer: DatasetWriter
}

// Numbers of items are stored as they were sent.
const config = { body: 'exact' } as const

export async function datasetRoutes(app: App, options: DatasetOptions): Promise<void> {
  addDatasets(app, options)
  addItemCreate(app, options)
  addItemList(app, options)
  addItemRead(app, options)
  addItemDelete(app, options)
}

function addDatasets(app: App, { datasets, writer }: DatasetOptions): void {
  const url = '/v2/datasets'
  app.post(url, { config, schema: { body: DatasetBody } }, async (request, reply) => {
    const { project_id, principal } = requireLangfuseCaller(
      request,
      reply,
      'traces:write',
      'traces:read',
    )
    const { svc_user_id } = principal
    const { version, val } = await writer.putDataset({ project_id, svc_user_id }, request.body)
    return renderDataset(version, val)
  })
  app.get(url, { schema: { querystring: DatasetsQuery } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { data, meta } = cutPage(await datasets.listDatasets(reader), request.query)
    const rendered = []
    for (const version of data) {
      rendered.push(renderDataset(version, (await datasets.readDataset(version)).val))
    }
    return { data: rendered, meta }
  })
  app.get(`${url}/:datasetName`, { schema: { params: DatasetPath } }, async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:read')
    const { version, val } = await datasets.requireDataset(project_id, request.params.datasetName)
    return renderDataset(version, val)
  })
}

function showItem(row: NewRow, { version, val }: Dataset) {
  const { id, name } = renderDataset(version, val)
  return renderItem(row, { id, name, at: renderTimestamp(version.created_at_us) })
}

function addItemCreate(app: App, { datasets, writer }: DatasetOptions): void {
  const schema = { body: DatasetItemBody }
  app.post('/dataset-items', { config, schema }, async (request, reply) => {
    const { project_id, principal } = requireLangfuseCaller(
      request,
      reply,
      'traces:write',
      'traces:read',
    )
    const { svc_user_id } = principal
    const put = { ...request.body, id: request.body.id ?? newId() }
    const { datasetName } = put
    const row = await writer.changeItem({ project_id, svc_user_id }, datasetName, { put })
    if (row === null) throw itemNotFound(put.id)
    return showItem(row, await datasets.requireDataset(project_id, datasetName))
  })
}

/** Choice: archived items are left out, as the SDKs run every item that a list has. Spec: none, an addition. */
function addItemList(app: App, options: DatasetOptions): void {
  const { datasets } = options
  const schema = { querystring: DatasetItemsQuery }
  app.get('/dataset-items', { schema }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { query } = request
    const latest = await datasets.requireDataset(project_id, query.datasetName)
    const dataset =
      query.version === undefined
        ? latest
        : await findDatasetAt(options, latest, timestampUs(query.version), reader)
    const entries = dataset === null ? [] : await datasets.indexOf(dataset)
    const wanted = entries.flatMap((entry, at) => (isWanted(entry, query) ? [at] : []))
    const { data, meta } = cutPage(wanted, query)
    if (dataset === null) return { data: [], meta }
    const rows = await datasets.readRows(dataset, data)
    return { data: rows.map((row) => showItem(row, dataset)), meta }
  })
}

function isWanted(
  entry: ItemEntry,
  asked: {
    readonly sourceTraceId?: string | undefined
    readonly sourceObservationId?: string | undefined
  },
): boolean {
  const { sourceTraceId: trace, sourceObservationId: observation } = asked
  return (
    !entry.isArchived &&
    (trace === undefined || entry.source_trace_id === trace) &&
    (observation === undefined || entry.source_observation_id === observation)
  )
}

/** The dataset as it was at a time; null before its first version. */
async function findDatasetAt(
  { datasets, objects }: DatasetOptions,
  { version: { project_id, object_id } }: Dataset,
  atUs: number,
  reader: ReadCaller,
): Promise<Dataset | null> {
  const listing = {
    project_id,
    filter: { is_op: false, object_ids: [object_id] },
    sort_by: [{ field: 'created_at' as const, direction: 'desc' as const }],
    limit: OBJECTS_LIMIT_MAX,
    offset: 0,
    withContent: false,
    contentBytesMax: 0,
  }
  const found = await objects.listObjects(listing, reader)
  const then = found.find(({ version }) => version.created_at_us <= atUs)
  return then === undefined ? null : datasets.readDataset(then.version)
}

/** Limit: rows that are searched for an item; the dataset that begins below it is read to its end. */
const SEARCHED_ROWS_MAX = 100_000

/** The dataset of an item, and where the item is in it. @throws ApiError object_not_found, client_closed_request */
export async function findItem(datasets: DatasetReader, id: string, reader: ReadCaller) {
  const home = datasets.homeOf(reader.project_id, id)
  const versions = await datasets.listDatasets(reader)
  let rows = 0
  const isHome = (version: ObjectVersion) => version.object_id === home
  // Where it was seen first: every other dataset has to be read.
  for (const version of [...versions.filter(isHome), ...versions.filter((one) => !isHome(one))]) {
    requireWaiting(reader.signal)
    const dataset = await datasets.readDataset(version)
    const entries = await readIndex(datasets, dataset)
    const at = entries.findIndex((entry) => entry.id === id)
    if (at >= 0) return { dataset, at }
    rows += entries.length
    if (rows < SEARCHED_ROWS_MAX) continue
    const message = `There is no item ${JSON.stringify(id)} in the datasets of the newest ${rows} items: list those of its dataset first.`
    throw new ApiError('object_not_found', { param: 'id', message })
  }
  throw itemNotFound(id)
}

/** A dataset that is too large has no item that can be found by its id alone. */
async function readIndex(datasets: DatasetReader, dataset: Dataset): Promise<readonly ItemEntry[]> {
  try {
    return await datasets.indexOf(dataset)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'validation_failed') return []
    throw error
  }
}

function addItemRead(app: App, { datasets }: DatasetOptions): void {
  app.get('/dataset-items/:id', { schema: { params: DatasetItemPath } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { id } = request.params
    const { dataset, at } = await findItem(datasets, id, reader)
    const [row] = await datasets.readRows(dataset, [at])
    if (row === undefined) throw itemNotFound(id)
    return showItem(row, dataset)
  })
}

function addItemDelete(app: App, { audit, datasets, writer }: DatasetOptions): void {
  const schema = { params: DatasetItemPath }
  app.delete('/dataset-items/:id', { schema }, async (request, reply) => {
    const { project_id, principal, reader } = requireLangfuseCaller(request, reply, 'traces:write')
    const { id } = request.params
    const { version, val } = (await findItem(datasets, id, reader)).dataset
    const { id: subject_id, name } = renderDataset(version, val)
    const act = { action: 'objects.delete', project_id, subject_id } as const
    await recordBefore(audit, request, { ...act, before: { item: id } })
    const { svc_user_id } = principal
    await writer.changeItem({ project_id, svc_user_id }, name, { remove: id })
    return { message: 'Dataset item successfully deleted' }
  })
}
