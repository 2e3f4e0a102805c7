/** Reads datasets item by item: an index of the rows of a table, which never changes, is cached. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { parseExact } from '../../domain/json/json-text.ts'
import { objectOrEmpty } from '../../domain/json/json-values.ts'
import { entryOf, type ItemEntry, tableDigestOf } from '../../domain/langfuse/dataset-items.ts'
import { isOfKind, objectIdOf } from '../../domain/objects/object-kinds.ts'
import type { ObjectVersion } from '../../domain/objects/object-view.ts'
import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { NewRow, StoredTable } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'

/** Limit: rows of a dataset that these routes read and change. */
export const ITEMS_MAX = 10_000
/** Limit: indexes of tables in memory. */
const INDEXES_MAX = 16
/** Limit: items whose datasets are in memory. */
const HOMES_MAX = 100_000
/** Limit: datasets that are listed, and searched for an item. */
const DATASETS_MAX = 1000

export interface Dataset {
  readonly version: ObjectVersion
  readonly val: JsonObject
}

export function createDatasetReader({ objects, tables }: Pick<Stores, 'objects' | 'tables'>) {
  const indexes = new Map<string, readonly ItemEntry[]>()
  /** Where an item was seen: project and id to the name of the dataset. */
  const homes = new Map<string, string>()

  async function readDataset(version: ObjectVersion): Promise<Dataset> {
    const json = await objects.findContent(version.project_id, version.digest)
    return { version, val: objectOrEmpty(parseExact(json ?? 'null')) }
  }

  /** @throws ApiError validation_failed for a table with too many rows */
  async function findTable({ version, val }: Dataset): Promise<StoredTable | null> {
    const table = await tables.findTable(version.project_id, tableDigestOf(val))
    if (table === null || table.row_count <= ITEMS_MAX) return table
    const message = `The dataset has more than ${ITEMS_MAX} rows: read it with /table/query.`
    throw new ApiError('validation_failed', { param: 'datasetName', message })
  }

  function keepIndex(project_id: string, digest: string, entries: readonly ItemEntry[]): void {
    keepNewest(indexes, `${project_id}/${digest}`, entries, INDEXES_MAX)
  }

  function keepHome({ version: { project_id, object_id } }: Dataset, id: string): void {
    keepNewest(homes, `${project_id}/${id}`, object_id, HOMES_MAX)
  }

  return {
    readDataset,
    keepIndex,
    keepHome,
    /** The name of the dataset in which an item was seen; null when it was in none. */
    homeOf: (project_id: string, id: string) => homes.get(`${project_id}/${id}`) ?? null,

    /** @throws ApiError object_not_found */
    async requireDataset(project_id: string, name: string): Promise<Dataset> {
      const object_id = objectIdOf(name)
      const version = await objects.findObject(project_id, object_id, 'latest')
      const isThere = version?.deleted_at_us === null && isOfKind(version, 'dataset')
      if (isThere) return readDataset(version)
      const message = `There is no dataset ${JSON.stringify(name)}.`
      throw new ApiError('object_not_found', { param: 'datasetName', message })
    },

    /** The entries of all rows, in order. */
    async indexOf(dataset: Dataset): Promise<readonly ItemEntry[]> {
      const table = await findTable(dataset)
      if (table === null) return []
      const { project_id, digest, row_count } = table
      const known = indexes.get(`${project_id}/${digest}`)
      if (known !== undefined) {
        // It becomes the newest, so that versions nobody reads go first.
        keepIndex(project_id, digest, known)
        return known
      }
      const entries: ItemEntry[] = []
      const positions = Array.from({ length: row_count }, (_, at) => at)
      for await (const rows of tables.readRows(table, positions)) entries.push(...rows.map(entryOf))
      keepIndex(project_id, digest, entries)
      for (const { id } of entries) keepHome(dataset, id)
      return entries
    },

    async readRows(dataset: Dataset, positions: readonly number[]): Promise<NewRow[]> {
      const table = positions.length === 0 ? null : await findTable(dataset)
      if (table === null) return []
      return (await Array.fromAsync(tables.readRows(table, positions))).flat()
    },

    /** The datasets of the caller's project, the newest first. */
    async listDatasets(caller: ReadCaller): Promise<ObjectVersion[]> {
      const listing = {
        project_id: caller.project_id,
        filter: { is_op: false, latest_only: true, base_object_classes: ['Dataset'] },
        sort_by: [{ field: 'created_at' as const, direction: 'desc' as const }],
        limit: DATASETS_MAX,
        offset: 0,
        withContent: false,
        contentBytesMax: 0,
      }
      const found = await objects.listObjects(listing, caller)
      return found.map(({ version }) => version)
    },
  }
}

export type DatasetReader = ReturnType<typeof createDatasetReader>

export function itemNotFound(id: string): ApiError {
  const message = `There is no item ${JSON.stringify(id)}.`
  return new ApiError('object_not_found', { param: 'id', message })
}

/** Sets an entry; the oldest one goes beyond a number of entries. */
function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
