/** Lists of the items of annotation queues, in SQLite and PostgreSQL alike. */
import { ITEMS_LIMIT_MAX } from '../../../schemas/limits.ts'
import type { ItemListing } from '../../api/annotation/annotation-queues.ts'
import type { Dialect } from '../db/dialect.ts'
import { ITEM_COLUMNS } from './annotation-queues.sql.ts'

/** The SQL of the allowed sort orders. */
const ORDERS = {
  created_at: 'created_at_us',
  updated_at: 'updated_at_us',
  call_started_at: 'call_started_at_us',
  call_op_name: 'call_op_name',
} as const

/**
 * Returns the statement for the matching items of a queue; null parameters do not filter (annotation_items_queue_key in
 * SQLite, annotation_items_queue_key_item_key in PostgreSQL, which also have the default order). Only positions need all
 * items sorted.
 */
export function selectItems(listing: ItemListing, { among }: Dialect): string {
  const { sort_by, include_position: withPosition } = listing
  const inStates = statesOf(listing).length > 0
  const order = (sort_by ?? []).map(
    ({ field, direction }) => `${ORDERS[field]} ${direction === 'asc' ? 'ASC' : 'DESC'}`,
  )
  const terms = [...order, 'item_key ASC'].join(', ')
  return `
SELECT *
FROM (
  SELECT
    ${ITEM_COLUMNS},
    ${withPosition ? `row_number() OVER (ORDER BY ${terms})` : 'NULL'} AS position_in_queue
  FROM annotation_items
  WHERE queue_key = @queue_key
) AS items
WHERE (CAST(@id AS text) IS NULL OR id = CAST(@id AS text))
  AND (CAST(@call_id AS text) IS NULL OR call_id = CAST(@call_id AS text))
  AND (CAST(@call_op_name AS text) IS NULL OR call_op_name = CAST(@call_op_name AS text))
  AND (CAST(@call_trace_id AS text) IS NULL OR call_trace_id = CAST(@call_trace_id AS text))
  AND (CAST(@added_by AS text) IS NULL OR added_by = CAST(@added_by AS text))
  ${inStates ? `AND annotation_state ${among('annotation_states')}` : ''}
ORDER BY ${withPosition ? 'position_in_queue' : terms}
LIMIT @limit OFFSET @offset
`
}

function statesOf({ filter }: ItemListing): readonly string[] {
  return filter?.annotation_states ?? []
}

/** Returns the parameters of `selectItems`. */
export function parametersOfItems(listing: ItemListing, queue_key: number) {
  const { project_id, queue_id, filter, limit, offset } = listing
  return {
    project_id,
    queue_id,
    queue_key,
    limit: limit ?? ITEMS_LIMIT_MAX,
    offset: offset ?? 0,
    id: filter?.id ?? null,
    call_id: filter?.call_id ?? null,
    call_op_name: filter?.call_op_name ?? null,
    call_trace_id: filter?.call_trace_id ?? null,
    added_by: filter?.added_by ?? null,
    annotation_states: statesOf(listing),
  }
}
