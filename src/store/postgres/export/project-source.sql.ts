/** Statements of an export that only PostgreSQL runs. */
import { listVersions } from '../../base/projects/project-records.sql.ts'
import { POSTGRES } from '../db/dialect.sql.ts'

/** Takes its snapshot with the first statement after it. */
export const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** The statement may have parameters. */
export function declareCursor(name: string, sql: string): string {
  return `DECLARE ${name} NO SCROLL CURSOR FOR ${sql}`
}

export function fetchRows(name: string, count: number): string {
  return `FETCH ${count} FROM ${name}`
}

export function closeCursor(name: string): string {
  return `CLOSE ${name}`
}

export const LIST_OBJECTS = listVersions(POSTGRES)

/** Sizes of the texts in the rows of LIST_FEEDBACK, in their order. */
export const SIZE_FEEDBACK = `
SELECT coalesce(octet_length(payload_json), 0) + coalesce(octet_length(scores_json), 0) AS bytes
FROM feedback
WHERE project_id = @project_id
ORDER BY feedback_key
`

/** Sizes of the contents in the rows of LIST_OBJECTS, in their order. */
export const SIZE_OBJECTS = `
SELECT octet_length(json_values.val_json) AS bytes
FROM objects
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
WHERE objects.project_id = @project_id
ORDER BY objects.object_key
`

/** Sizes of contents; by primary key. */
export const FIND_SIZES = `
SELECT value_key, octet_length(val_json) AS bytes
FROM json_values
WHERE value_key = ANY (@keys::bigint[])
`

/** Contents with their digests; by primary key. */
export const FIND_VALUES = `
SELECT value_key, digest, val_json AS val
FROM json_values
WHERE value_key = ANY (@keys::bigint[])
`

export const LIST_FILES = `
SELECT file_key, digest, size_bytes
FROM files
WHERE project_id = @project_id
ORDER BY file_key
`
