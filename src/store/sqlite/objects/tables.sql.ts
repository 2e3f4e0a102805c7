/** Statements for tables, their blocks and their rows. */

/** The key and size of a row's content (json_values_project_id_digest). */
export const FIND_ROW_KEY = `
SELECT value_key, octet_length(val_json) AS size_bytes
FROM json_values
WHERE project_id = @project_id AND digest = @digest
`

/** Inserts a table unless the project has it (tables_project_id_digest). */
export const INSERT_TABLE = `
INSERT INTO tables (project_id, digest, row_count, storage_size_bytes)
VALUES (@project_id, @digest, @row_count, @storage_size_bytes)
ON CONFLICT (project_id, digest) DO NOTHING
`

/** The digest of a row; by primary key. */
export const FIND_ROW_DIGEST = `
SELECT digest
FROM json_values
WHERE value_key = ?
`
