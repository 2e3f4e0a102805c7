/** Statements for the sweep: they read whole tables once, before the server accepts requests. */

/** The files of all payloads. */
export const LIST_PAYLOAD_PATHS = `
SELECT payload_path
FROM training_jobs
`

/** The uploaded files that are not stored in their rows. */
export const LIST_FILE_PATHS = `
SELECT path
FROM files
WHERE path IS NOT NULL
`

/** The weights of visible checkpoints; several checkpoints may share them. */
export const LIST_ARTIFACT_PATHS = `
SELECT DISTINCT artifact_path
FROM checkpoints
WHERE artifact_path IS NOT NULL AND deleted_at_us IS NULL
`
