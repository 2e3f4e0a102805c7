/** Locks of changes of projects, and sizes of their contents. A change of a retention waits for the steps that remove calls by the earlier one. */

const KEY = `hashtextextended('retention ' || @project_id, 0)`

/** Until the connection ends. Refused when a change waits already, so that steps cannot keep it waiting in turns. */
export const PIN_RETENTION = `SELECT pg_try_advisory_lock_shared(${KEY}) AS held`

/** Until the transaction ends. */
export const AWAIT_PINS = `SELECT pg_advisory_xact_lock(${KEY})`

/** Serializes changes of the prices of a project; the lock ends with the transaction. */
export const LOCK_PROJECT_PRICES = `
SELECT pg_advisory_xact_lock(hashtextextended('prices ' || @project_id, 0))
`

/** Bytes of the live versions of a project's objects (objects_project_id_object_id_version_index_key). */
export const SUM_OBJECT_BYTES = `
SELECT coalesce(sum(octet_length(json_values.val_json)), 0)::bigint AS bytes
FROM objects
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
WHERE objects.project_id = @project_id AND objects.deleted_at_us IS NULL
`
