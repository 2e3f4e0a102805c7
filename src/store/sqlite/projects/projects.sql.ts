/** Statements for projects as a whole. */

/** The bytes of the next live versions after a version (objects_project_id_object_id_version_index). */
export const SELECT_OBJECT_BYTES = `
SELECT
  objects.object_id,
  objects.version_index,
  octet_length(json_values.val_json) AS bytes,
  objects.deleted_at_us
FROM objects
CROSS JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
WHERE objects.project_id = @project_id
  AND (objects.object_id, objects.version_index) > (@object_id, @version_index)
ORDER BY objects.object_id, objects.version_index
LIMIT @limit
`

/** By the unique index of project_id. */
export const FIND_PROJECT = 'SELECT 1 FROM projects WHERE project_id = @project_id'

/** The next projects by name (unique index of project_id). */
export const LIST_PROJECTS = `
SELECT project_id
FROM projects
WHERE project_id > @after
ORDER BY project_id
LIMIT @limit
`
