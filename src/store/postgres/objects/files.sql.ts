/** Statements of files and their chunks. */

/** Registers a file before its bytes are received. */
export const BEGIN_FILE = `
INSERT INTO files DEFAULT VALUES
RETURNING file_key
`

/** The next bytes of a file. */
export const INSERT_CHUNK = `
INSERT INTO file_chunks (file_key, chunk, content)
VALUES (@file_key, @chunk, @content)
`

/** Assigns received bytes to a project, unless it has them (files_project_id_digest_key). */
export const KEEP_FILE = `
UPDATE files
SET project_id = @project_id, digest = @digest, size_bytes = @size_bytes
WHERE file_key = @file_key
  AND project_id IS NULL
  AND NOT EXISTS (
    SELECT 1
    FROM files AS kept
    WHERE kept.project_id = @project_id AND kept.digest = @digest
  )
`

/** Serializes additions of one content to a project; the lock ends with the transaction. */
export const LOCK_FILE = `
SELECT pg_advisory_xact_lock(hashtextextended('file ' || @project_id || ' ' || @digest, 0))
`

/** A file (files_project_id_digest_key). */
export const FIND_FILE = `
SELECT file_key, size_bytes
FROM files
WHERE project_id = @project_id AND digest = @digest
`

/** One chunk of a file; by primary key. */
export const FIND_CHUNK = `
SELECT content
FROM file_chunks
WHERE file_key = @file_key AND chunk = @chunk
`

/** Removes bytes that no project has, with their chunks. */
export const DISCARD_FILE = `
DELETE FROM files
WHERE file_key = @file_key AND project_id IS NULL
`

/** Bytes of uploads that were never completed: older than any request can take (files_received_at). */
export const LIST_LEFT_FILES = `
SELECT file_key
FROM files
WHERE project_id IS NULL AND received_at < now() - interval '1 day'
`
