/** Statements of an export: the records of a project by kind, with the columns of `project-files/record-kinds`. */
import type { Dialect } from '../db/dialect.ts'

/** In the order of their creation. */
export const LIST_FEEDBACK = `
SELECT
  id,
  weave_ref,
  feedback_type,
  creator,
  annotation_ref,
  runnable_ref,
  call_ref,
  trigger_ref,
  queue_id,
  svc_user_id,
  created_at_us AS created_at,
  payload_json AS payload,
  scores_json AS scores
FROM feedback
WHERE project_id = @project_id
ORDER BY feedback_key
`

/** Versions with their contents, in the order of their creation; those that are deleted have no tags and aliases. */
export function listVersions({ sortedList }: Dialect): string {
  return `
SELECT
  objects.object_id,
  objects.digest,
  objects.version_index,
  objects.kind,
  objects.base_object_class,
  objects.leaf_object_class,
  objects.svc_user_id,
  objects.created_at_us AS created_at,
  objects.deleted_at_us AS deleted_at,
  (
    SELECT ${sortedList('tag')}
    FROM object_tags
    WHERE object_key = objects.object_key AND objects.deleted_at_us IS NULL
  ) AS tags,
  (
    SELECT ${sortedList('alias')}
    FROM object_aliases
    WHERE object_key = objects.object_key AND objects.deleted_at_us IS NULL
  ) AS aliases,
  json_values.val_json AS val
FROM objects
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
WHERE objects.project_id = @project_id
ORDER BY objects.object_key
`
}

export const LIST_TABLES = `
SELECT digest, row_count
FROM tables
WHERE project_id = @project_id
ORDER BY digest
`

export const LIST_TABLE_BLOCKS = `
SELECT tables.digest AS table_digest, table_blocks.value_keys
FROM tables
JOIN table_blocks ON table_blocks.table_key = tables.table_key
WHERE tables.project_id = @project_id
ORDER BY tables.digest, table_blocks.block
`
