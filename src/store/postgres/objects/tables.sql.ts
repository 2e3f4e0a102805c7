/** Statements of tables, their blocks and their rows. */

/** Keys and sizes of contents in the order of digests; nulls where there is none (json_values_project_id_digest_key). */
export const FIND_ROW_KEYS = `
SELECT
  json_values.value_key,
  octet_length(json_values.val_json) AS bytes
FROM unnest(@digests::text[]) WITH ORDINALITY AS asked (digest, place)
LEFT JOIN json_values
  ON json_values.project_id = @project_id AND json_values.digest = asked.digest
ORDER BY asked.place
`

/** Blocks of a table (its primary key). */
export const FIND_TABLE_BLOCKS = `
SELECT block, value_keys
FROM table_blocks
WHERE table_key = @table_key AND block = ANY (@blocks::integer[])
`

/** Digests and sizes of rows; by primary key. */
export const FIND_ROW_DIGESTS = `
SELECT
  value_key,
  digest,
  octet_length(val_json) AS bytes
FROM json_values
WHERE value_key = ANY (@keys::bigint[])
`

/** Contents of rows; by primary key. */
export const FIND_ROWS = `
SELECT value_key, val_json
FROM json_values
WHERE value_key = ANY (@keys::bigint[])
`

/** Bytes of the live versions of a project's objects (objects_project_id_object_id_version_index_key). */
export const SUM_OBJECT_BYTES = `
SELECT coalesce(sum(octet_length(json_values.val_json)), 0)::bigint AS bytes
FROM objects
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
WHERE objects.project_id = @project_id AND objects.deleted_at_us IS NULL
`
