/** Statements for files. */

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
