/** Statements of the sweep: they read whole tables, once, before anything is served. */

/** The files of all payloads. */
export const LIST_PAYLOAD_PATHS = `
SELECT payload_path
FROM training_jobs
`

/** The uploaded files that do not lie in their rows. */
export const LIST_FILE_PATHS = `
SELECT path
FROM files
WHERE path IS NOT NULL
`
