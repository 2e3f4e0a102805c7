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

/** Bytes of a project's files (files_project_id_digest). */
export const SUM_FILE_BYTES = `
SELECT coalesce(sum(size_bytes), 0) AS bytes
FROM files
WHERE project_id = @project_id
`
