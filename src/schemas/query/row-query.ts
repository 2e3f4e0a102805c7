/**
 * Query that the list routes over feedback and prices share: fields, condition, order, page. Additions to the spec.
 */

import { z } from 'zod'
import { COUNT_FIELD, ROWS_MAX } from '../limits.ts'
import { ProjectId } from '../primitives.ts'
import { pageFields } from './page-query.ts'
import { FieldPath, Query, SORT_TERMS_MAX, SortTerm } from './query-expression.ts'

/** Limit: rows that may be left out before the page. */
const OFFSET_MAX = 100_000
const FIELDS_MAX = 100

/** A query over the rows of a project. */
export const RowQueryRequest = z
  .strictObject({
    project_id: ProjectId,
    fields: z
      .array(FieldPath)
      .max(FIELDS_MAX, `must have at most ${FIELDS_MAX} names`)
      .nullish()
      .describe(`Fields to answer, dotted into JSON, or only \`${COUNT_FIELD}\`; all when absent.`),
    query: Query.nullish().describe('A condition on the rows.'),
    sort_by: z
      .array(SortTerm)
      .max(SORT_TERMS_MAX, `must have at most ${SORT_TERMS_MAX} terms`)
      .nullish()
      .describe('Order. Default: as stored.'),
    ...pageFields('rows', ROWS_MAX, OFFSET_MAX),
  })
  .meta({ id: 'RowQueryRequest', description: 'A query over the rows of a project.' })
export type RowQueryRequest = z.infer<typeof RowQueryRequest>
