/** Statements for objects, tables and files that only SQLite has. */
import { markStatements } from '../../base/objects/marks.sql.ts'
import { objectStatements } from '../../base/objects/objects.sql.ts'
import { SQLITE } from '../db/dialect.sql.ts'

export const OBJECTS = { ...objectStatements(SQLITE), ...markStatements(SQLITE) }

/** Inserts a file unless the project has it (files_project_id_digest). */
export const INSERT_FILE = `
INSERT INTO files (project_id, digest, size_bytes, content, path)
VALUES (@project_id, @digest, @size_bytes, @content, @path)
ON CONFLICT (project_id, digest) DO NOTHING
`

/** A file (files_project_id_digest). */
export const FIND_FILE = `
SELECT size_bytes, content, path
FROM files
WHERE project_id = @project_id AND digest = @digest
`
