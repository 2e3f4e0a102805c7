/** Statements for tables, their blocks and their rows. */

/** The key and size of a row's content (json_values_project_id_digest). */
export const FIND_ROW_KEY = `
SELECT value_key, octet_length(val_json) AS size_bytes
FROM json_values
WHERE project_id = @project_id AND digest = @digest
`

/** The digest of a row; by primary key. */
export const FIND_ROW_DIGEST = `
SELECT digest
FROM json_values
WHERE value_key = ?
`
