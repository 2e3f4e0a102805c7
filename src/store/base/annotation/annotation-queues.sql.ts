/** Statements for annotation queues and their items that run on SQLite and PostgreSQL alike. */
import { ITEMS_LIMIT_MAX } from '../../../schemas/limits.ts'
import type { ItemListing } from '../../api/annotation/annotation-queues.ts'
import type { Dialect } from '../db/dialect.ts'
import { insertNamed } from '../db/rows.sql.ts'

/** Limit: items of one queue. */
export const ITEMS_MAX = 100_000

const QUEUE_COLUMNS = [
  'id',
  'project_id',
  'name',
  'description',
  'scorer_refs_json',
  'queue_type',
  'created_by',
  'created_at_us',
  'updated_at_us',
  'deleted_at_us',
  'rules_json',
  'rules_position',
]

export const INSERT_QUEUE = insertNamed('annotation_queues', QUEUE_COLUMNS)

/** The columns of a new item. */
export const NEW_ITEM_COLUMNS = [
  'id',
  'queue_key',
  'call_id',
  'call_trace_id',
  'call_op_name',
  'call_started_at_us',
  'call_ended_at_us',
  'display_fields_json',
  'added_by',
  'created_at_us',
  'updated_at_us',
]

/** For a call that is in the queue already (annotation_items_queue_key_call_id). */
export const UNLESS_THERE = 'ON CONFLICT (queue_key, call_id) DO NOTHING'

export const LIST_QUEUES = `
SELECT ${QUEUE_COLUMNS.join(', ')}
FROM annotation_queues
WHERE project_id = @project_id AND deleted_at_us IS NULL
ORDER BY queue_key
`

/** A queue that is not deleted (its unique id, like the next two). */
export const FIND_QUEUE = `
SELECT ${QUEUE_COLUMNS.join(', ')}, queue_key
FROM annotation_queues
WHERE id = @id AND project_id = @project_id AND deleted_at_us IS NULL
`

/** Updates a queue; null keeps the current value. */
export const UPDATE_QUEUE = `
UPDATE annotation_queues
SET
  name = coalesce(@name, name),
  description = coalesce(@description, description),
  scorer_refs_json = coalesce(@scorer_refs_json, scorer_refs_json),
  rules_json = @rules_json,
  rules_position = @rules_position,
  updated_at_us = @updated_at_us
WHERE id = @id AND project_id = @project_id AND deleted_at_us IS NULL
`

const IS_RULED = 'rules_json IS NOT NULL AND deleted_at_us IS NULL'

/** The queues with rules (annotation_queues_project_id_rules, as the next two). */
export const LIST_RULED = `
SELECT ${QUEUE_COLUMNS.join(', ')}
FROM annotation_queues
WHERE ${IS_RULED}
ORDER BY project_id, queue_key
`

export const LIST_RULES = `
SELECT id, rules_json
FROM annotation_queues
WHERE project_id = @project_id AND ${IS_RULED}
`

export const COUNT_RULED = `
SELECT count(*) AS count
FROM annotation_queues
WHERE project_id = @project_id AND ${IS_RULED}
`

export const DELETE_QUEUE = `
UPDATE annotation_queues
SET deleted_at_us = @deleted_at_us, updated_at_us = @deleted_at_us
WHERE id = @id AND project_id = @project_id AND deleted_at_us IS NULL
`

/** The progress of an annotator with an item; by primary key, like the next two. */
export const FIND_PROGRESS = `
SELECT annotation_state
FROM annotation_progress
WHERE item_key = @item_key AND annotator_user_id = @annotator_user_id
`

/** Whether another annotator has held an item since a time. */
export const FIND_HOLDER = `
SELECT 1
FROM annotation_progress
WHERE item_key = @item_key
  AND annotator_user_id <> @annotator_user_id
  AND annotation_state = 'in_progress'
  AND updated_at_us > @since_us
LIMIT 1
`

export const SET_PROGRESS = `
INSERT INTO annotation_progress (item_key, annotator_user_id, annotation_state, updated_at_us)
VALUES (@item_key, @annotator_user_id, @annotation_state, @updated_at_us)
ON CONFLICT (item_key, annotator_user_id) DO UPDATE SET
  annotation_state = excluded.annotation_state,
  updated_at_us = excluded.updated_at_us
`

/** The number of queues of a project (annotation_queues_project_id). */
export const COUNT_QUEUES = `
SELECT count(*) AS count
FROM annotation_queues
WHERE project_id = @project_id AND deleted_at_us IS NULL
`

/** The columns of an item; its queue comes from parameters. */
const ITEM_COLUMNS = `
  item_key,
  id,
  CAST(@project_id AS text) AS project_id,
  CAST(@queue_id AS text) AS queue_id,
  call_id,
  call_started_at_us,
  call_ended_at_us,
  call_op_name,
  call_trace_id,
  display_fields_json,
  added_by,
  annotation_state,
  annotator_user_id,
  created_at_us,
  updated_at_us`.trimStart()

/** An item of a queue (its unique id). */
export const FIND_ITEM = `
SELECT
  ${ITEM_COLUMNS},
  NULL AS position_in_queue
FROM annotation_items
WHERE id = @item_id AND queue_key = @queue_key
`

/** Statements for tasks of rules; by primary key. */
export function ruleTasks({ among }: Dialect) {
  const AMONG_OVER = `WHERE evaluator_id = @id AND subject_id ${among('over')}`
  return {
    LIST_OVER: `
SELECT subject_id
FROM evaluator_tasks
${AMONG_OVER}
`,
    DELETE_OVER: `
DELETE FROM evaluator_tasks
${AMONG_OVER}
`,
    DEFER: `
UPDATE evaluator_tasks
SET due_at_us = @due_at_us
WHERE evaluator_id = @id AND subject_id ${among('waiting')}
`,
  }
}

/** Which of some calls a queue has (annotation_items_queue_key_call_id). */
export function findItems({ among }: Dialect): string {
  return `
SELECT call_id
FROM annotation_items
WHERE queue_key = @queue_key AND call_id ${among('call_ids')}
`
}

/** The number of items, and of those that are done (covered by annotation_items_queue_key_is_done). */
export const COUNT_ITEMS = `
SELECT
  count(*) AS total_items,
  coalesce(sum(is_done), 0) AS completed_items
FROM annotation_items
WHERE queue_key = @queue_key
`

/** By primary key. */
export const UPDATE_ITEM = `
UPDATE annotation_items
SET
  annotation_state = CAST(@annotation_state AS text),
  annotator_user_id = @annotator_user_id,
  updated_at_us = @updated_at_us,
  is_done = CASE WHEN CAST(@annotation_state AS text) = 'in_progress' THEN is_done ELSE 1 END
WHERE item_key = @item_key
`

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
