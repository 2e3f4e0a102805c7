/**
 * Tables of published rows on the wire.
 *
 * Spec: §2.1 (refs; tables are not shown). Choice: the routes and fields of the public tracing clients.
 */
import { z } from 'zod'
import { FreeObject, ProjectId, switchField } from '../primitives.ts'
import { SortDirection } from '../query/query-expression.ts'
import { ExpectedDigest } from './object.ts'

/** Limit: rows of a table. */
export const TABLE_ROWS_MAX = 1_000_000
/** Limit: changes of one update. */
const UPDATES_MAX = 100_000
/** Limit: tables of one query, and digests of one filter. */
const DIGESTS_MAX = 10_000
const SORT_FIELDS_MAX = 4
const FIELD_PATH_MAX = 1024

const TableDigest = z
  .string()
  .regex(/^[0-9a-zA-Z]{1,128}$/, 'must be a digest')
  .describe('Digest of the table.')
const RowDigest = z.string().regex(/^[0-9a-zA-Z]{1,128}$/, 'must be a digest')
const position = z.int().min(0).max(TABLE_ROWS_MAX)

export const TableCreateRequest = z.strictObject({
  table: z
    .strictObject({
      project_id: ProjectId,
      rows: z.array(FreeObject).max(TABLE_ROWS_MAX).describe('Rows, in order; each an object.'),
      expected_digest: ExpectedDigest,
    })
    .describe('The table to store.'),
})

const digest = z.string().describe('Digest of the table.')

export const TableCreateResponse = z.object({
  digest,
  row_digests: z.array(z.string()).describe('Digests of the rows, in order.'),
})

const append = z
  .strictObject({ row: FreeObject.describe('The row.') })
  .describe('Adds a row at the end.')
const pop = z
  .strictObject({ index: position.describe('Which row, from 0.') })
  .describe('Removes a row.')
const insert = z
  .strictObject({
    index: position.describe('Index of the row to insert before, from 0.'),
    row: FreeObject.describe('The row.'),
  })
  .describe('Inserts a row before another.')

export const TableUpdateRequest = z.strictObject({
  project_id: ProjectId,
  base_digest: TableDigest.describe('Digest of the base table.'),
  updates: z
    .array(
      z.union([z.strictObject({ append }), z.strictObject({ pop }), z.strictObject({ insert })]),
    )
    .max(UPDATES_MAX)
    .describe('Changes, applied in order.'),
})
export type TableUpdateRequest = z.infer<typeof TableUpdateRequest>

export const TableUpdateResponse = z.object({
  digest,
  updated_row_digests: z
    .array(z.string())
    .describe('For each change the digest of the row that it added or removed.'),
})

export const TableCreateFromDigestsRequest = z.strictObject({
  project_id: ProjectId,
  row_digests: z
    .array(RowDigest)
    .max(TABLE_ROWS_MAX)
    .describe('Digests of rows stored in the project, in order.'),
  expected_digest: ExpectedDigest,
})

export const TableCreateFromDigestsResponse = z.object({ digest })

export const TableQueryRequest = z.strictObject({
  project_id: ProjectId,
  digest: TableDigest,
  filter: z
    .strictObject({
      row_digests: z
        .array(RowDigest)
        .max(DIGESTS_MAX)
        .nullish()
        .describe('Only rows with these digests; an empty list or null does not filter.'),
    })
    .nullish()
    .describe('Which rows; all when absent.'),
  limit: position.nullish().describe('Maximum number of rows. Default: all.'),
  offset: position.nullish().describe('Number of rows to skip. Default 0.'),
  sort_by: z
    .array(
      z.strictObject({
        field: z
          .string()
          .min(1)
          .max(FIELD_PATH_MAX)
          .regex(/^[^.]+(\.[^.]+)*$/, 'must have a name before and behind each dot')
          .describe('Dotted path inside the rows.'),
        direction: SortDirection,
      }),
    )
    .max(SORT_FIELDS_MAX)
    .nullish()
    .describe('Order. Default: that of the table.'),
})
export type TableQueryRequest = z.infer<typeof TableQueryRequest>

/** One row of a response. */
const TableRowSchema = z
  .object({
    digest: z.string().describe('Digest of the row.'),
    val: z.unknown().describe('The row.'),
    original_index: z.int().describe('Index in the table, from 0.'),
  })
  .meta({ id: 'TableRowSchema', description: 'A row of a table.' })

export const TableQueryResponse = z.object({
  rows: z.array(TableRowSchema).describe('The rows.'),
})

export const TableQueryStatsRequest = z.strictObject({
  project_id: ProjectId,
  digest: TableDigest,
})

export const TableQueryStatsResponse = z.object({
  count: z.int().describe('Number of rows.'),
})

export const TableQueryStatsBatchRequest = z.strictObject({
  project_id: ProjectId,
  digests: z.array(TableDigest).max(DIGESTS_MAX).nullish().describe('Digests of the tables.'),
  include_storage_size: switchField('Whether to fill storage_size_bytes.'),
})

export const TableQueryStatsBatchResponse = z.object({
  tables: z
    .array(
      z.object({
        digest,
        count: z.int().describe('Number of rows.'),
        storage_size_bytes: z.int().optional().describe('Bytes of the rows; only when requested.'),
      }),
    )
    .describe('The tables that exist, in the order of the request.'),
})
