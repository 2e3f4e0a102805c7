/** Statements for tables, their blocks and rows, and for sizes of files that run on SQLite and PostgreSQL alike. Indexes as in SQLite. */

import type { Dialect } from '../db/dialect.ts'

/** Rows of one block. */
export const BLOCK_ROWS = 1024

/** Inserts a table unless the project has it (tables_project_id_digest). */
export const INSERT_TABLE = `
INSERT INTO tables (project_id, digest, row_count, storage_size_bytes)
VALUES (@project_id, @digest, @row_count, @storage_size_bytes)
ON CONFLICT (project_id, digest) DO NOTHING
RETURNING table_key
`

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

/** The bytes of the rows of a project's tables (tables_project_id_digest). */
export const SUM_TABLE_BYTES = `
SELECT CAST(coalesce(sum(storage_size_bytes), 0) AS bigint) AS bytes
FROM tables
WHERE project_id = @project_id
`

/** One block of a table (its primary key). */
export const FIND_TABLE_BLOCK = `
SELECT value_keys
FROM table_blocks
WHERE table_key = @table_key AND block = @block
`

/** The digest and content of a row; by primary key. */
export const FIND_ROW = `
SELECT digest, val_json
FROM json_values
WHERE value_key = @value_key
`

/** Bytes of all files of a project (files_project_id_digest). */
export const SUM_FILE_BYTES = `
SELECT CAST(coalesce(sum(size_bytes), 0) AS bigint) AS bytes
FROM files
WHERE project_id = @project_id
`

export function tableStatements(dialect: Dialect) {
  return {
    /** Inserts contents unless the project has them (json_values_project_id_digest). */
    insertValues: dialect.insertMany(
      'json_values',
      ['project_id', 'digest', 'val_json'],
      'ON CONFLICT (project_id, digest) DO NOTHING',
    ),
    /** Keys and sizes of contents by their digests (json_values_project_id_digest). */
    FIND_ROW_KEYS: `
SELECT
  value_key,
  digest,
  octet_length(val_json) AS bytes
FROM json_values
WHERE project_id = @project_id AND digest ${dialect.among('digests')}
`,
    /** Digests and sizes of rows; by primary key. */
    FIND_ROW_DIGESTS: `
SELECT
  value_key,
  digest,
  octet_length(val_json) AS bytes
FROM json_values
WHERE value_key ${dialect.among('keys', 'bigint')}
`,
    /** Contents of rows; by primary key. */
    FIND_ROWS: `
SELECT value_key, val_json
FROM json_values
WHERE value_key ${dialect.among('keys', 'bigint')}
`,
    /** Blocks of a table (its primary key). */
    FIND_TABLE_BLOCKS: `
SELECT block, value_keys
FROM table_blocks
WHERE table_key = @table_key AND block ${dialect.among('blocks', 'bigint')}
`,
  }
}
