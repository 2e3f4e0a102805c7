/** Statements for tables, their blocks and their rows that run on SQLite and PostgreSQL alike. */

/** Inserts one block of a new table. */
export const INSERT_TABLE_BLOCK = `
INSERT INTO table_blocks (table_key, block, value_keys)
VALUES (@table_key, @block, @value_keys)
`

/** A table (tables_project_id_digest). */
export const FIND_TABLE = `
SELECT
  table_key,
  project_id,
  digest,
  row_count,
  storage_size_bytes
FROM tables
WHERE project_id = @project_id AND digest = @digest
`
