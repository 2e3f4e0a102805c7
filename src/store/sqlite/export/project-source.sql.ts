/** Statements of an export that only SQLite runs. */

export const FIND_VALUE = `
SELECT digest, val_json AS val
FROM json_values
WHERE value_key = @value_key
`

export const LIST_FILES = `
SELECT digest, size_bytes, content, path
FROM files
WHERE project_id = @project_id
ORDER BY file_key
`
