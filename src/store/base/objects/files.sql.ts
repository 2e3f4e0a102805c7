/** Statements for files that run on SQLite and PostgreSQL alike. */

/** Bytes of all files of a project (files_project_id_digest). */
export const SUM_FILE_BYTES = `
SELECT CAST(coalesce(sum(size_bytes), 0) AS bigint) AS bytes
FROM files
WHERE project_id = @project_id
`
