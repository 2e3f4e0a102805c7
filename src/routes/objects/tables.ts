/**
 * Tables of published rows.
 *
 * Spec: §2.1 (refs; tables are not shown). Choice: the routes of the public tracing clients.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { digestOfRows, requireDigest } from '../../domain/objects/digests.ts'
import { applyTableChanges } from '../../domain/objects/table-update.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import { renderList, sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  TableCreateFromDigestsRequest,
  TableCreateFromDigestsResponse,
  TableCreateRequest,
  TableCreateResponse,
  TableQueryRequest,
  TableQueryResponse,
  TableQueryStatsBatchRequest,
  TableQueryStatsBatchResponse,
  TableQueryStatsRequest,
  TableQueryStatsResponse,
  TableUpdateRequest,
  TableUpdateResponse,
} from '../../schemas/objects/table.ts'
import type { StoredTable, TableStore } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'
import type { LargeBodies } from '../bodies/large-bodies.ts'
import { renderRows, storeTable } from './table-rows.ts'

const tags = ['tables']
const config = { body: 'bytes' } as const

interface TableRoutesOptions extends Pick<Stores, 'tables'> {
  readonly bodies: LargeBodies
}

export async function tableRoutes(app: App, options: TableRoutesOptions): Promise<void> {
  const { tables } = options
  addTableCreate(app, options)
  addTableUpdate(app, options)
  addTableCreateFromDigests(app, tables)
  addTableQuery(app, tables)
  addTableStats(app, tables)
}

function addTableCreate(app: App, { tables, bodies }: TableRoutesOptions): void {
  app.post(
    '/table/create',
    {
      config,
      schema: {
        tags,
        operationId: 'createTable',
        summary: 'Store a table; storing the same rows again yields the same table.',
        body: TableCreateRequest,
        response: { 200: TableCreateResponse },
      },
    },
    async (request) => {
      const table = await bodies.prepare(app, request, 'table')
      const { project_id, expected_digest, rows } = table
      return storeTable(tables, project_id, rows, expected_digest)
    },
  )
}

function addTableUpdate(app: App, { tables, bodies }: TableRoutesOptions): void {
  app.post(
    '/table/update',
    {
      config,
      schema: {
        tags,
        operationId: 'updateTable',
        summary: 'Store a table by changes to another one.',
        body: TableUpdateRequest,
        response: { 200: TableUpdateResponse },
      },
    },
    async (request) => {
      const update = await bodies.prepare(app, request, 'tableUpdate')
      const { project_id, base_digest, rows, changes } = update
      const base = await tables.findTable(project_id, base_digest)
      if (base === null) throw new ApiError('table_not_found', { param: 'base_digest' })
      const updated = applyTableChanges(await tables.listRowDigests(base), changes)
      const digest = digestOfRows(updated.row_digests)
      await tables.insertRows(project_id, rows)
      await tables.createTable(project_id, digest, updated.row_digests)
      return { digest, updated_row_digests: [...updated.updated_row_digests] }
    },
  )
}

function addTableCreateFromDigests(app: App, tables: TableStore): void {
  app.post(
    '/table/create_from_digests',
    {
      config: { body: 'value' },
      schema: {
        tags,
        operationId: 'createTableFromDigests',
        summary: 'Store a table of rows that are already stored.',
        body: TableCreateFromDigestsRequest,
        response: { 200: TableCreateFromDigestsResponse },
      },
    },
    async (request) => {
      const { project_id, row_digests, expected_digest } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      const digest = digestOfRows(row_digests)
      requireDigest(expected_digest, digest, 'expected_digest')
      await tables.createTable(project_id, digest, row_digests)
      return { digest }
    },
  )
}

function addTableQuery(app: App, tables: TableStore): void {
  app.post(
    '/table/query',
    {
      schema: {
        tags,
        operationId: 'queryTable',
        summary: 'Read the rows of a table, in its order or sorted.',
        body: TableQueryRequest,
        response: { 200: TableQueryResponse },
      },
    },
    async (request, reply) => {
      const { project_id, digest } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const table = await tables.findTable(project_id, digest)
      if (table === null) return missing(app, { rows: [] })
      const caller = openReadCaller(request, reply, project_id)
      const indices = await chooseRowIndices(tables, table, request.body, caller)
      const rows = renderRows(tables, table, indices)
      return sendLines(reply, renderList('{"rows":[', rows), 'application/json')
    },
  )
}

function addTableStats(app: App, tables: TableStore): void {
  addProjectRead(
    app,
    '/table/query_stats',
    {
      tags,
      operationId: 'countTableRows',
      summary: 'Count the rows of a table.',
      body: TableQueryStatsRequest,
      response: TableQueryStatsResponse,
    },
    async ({ project_id, digest }) => {
      const table = await tables.findTable(project_id, digest)
      return table === null ? missing(app, { count: 0 }) : { count: table.row_count }
    },
  )

  addProjectRead(
    app,
    '/table/query_stats_batch',
    {
      tags,
      operationId: 'countTablesRows',
      summary: 'Count the rows of tables; tables that do not exist are left out.',
      body: TableQueryStatsBatchRequest,
      response: TableQueryStatsBatchResponse,
    },
    async ({ project_id, digests, include_storage_size }) => {
      const found = await Promise.all(
        (digests ?? []).map((digest) => tables.findTable(project_id, digest)),
      )
      return {
        tables: found
          .filter((table) => table !== null)
          .map(({ digest, row_count: count, storage_size_bytes }) =>
            include_storage_size ? { digest, count, storage_size_bytes } : { digest, count },
          ),
      }
    },
  )
}

/**
 * Returns the result for a missing table: with the vendor's names it is empty, as the vendor's clients expect.
 *
 * @throws ApiError table_not_found where names are neutral
 */
function missing<Empty>({ naming }: App, empty: Empty): Empty {
  if (naming.isStrict) throw new ApiError('table_not_found', { param: 'digest' })
  return empty
}

/** Returns the indices of the rows of a query, in its order. */
async function chooseRowIndices(
  tables: TableStore,
  table: StoredTable,
  { filter, sort_by, offset, limit }: TableQueryRequest,
  caller: ReadCaller,
): Promise<Iterable<number>> {
  const wanted = filter?.row_digests ?? []
  const from = offset ?? 0
  const until = from + (limit ?? table.row_count)
  const hasSort = sort_by && sort_by.length > 0
  if (wanted.length === 0 && !hasSort) return countUp(from, Math.min(until, table.row_count))
  const filtered = wanted.length > 0 ? await tables.findIndexes(table, wanted) : null
  if (!hasSort) return (filtered ?? []).slice(from, until)
  const sorted = await tables.sortIndexes(table, sort_by, caller)
  if (filtered === null) return sorted.slice(from, until)
  const filteredSet = new Set(filtered)
  return sorted.filter((index) => filteredSet.has(index)).slice(from, until)
}

function* countUp(from: number, until: number): Generator<number> {
  for (let index = from; index < until; index++) yield index
}
