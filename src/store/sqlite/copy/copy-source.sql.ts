/** Statements for a copy: all rows of tables, in key order. */
import type { CopiedTable } from '../../api/copy.ts'

/** All columns of the rows; by the key. */
export function listRows({ name, key }: CopiedTable): string {
  return `
SELECT *
FROM ${name}
ORDER BY ${key.join(', ')}
`
}

export function countRows({ name }: CopiedTable): string {
  return `
SELECT count(*) AS count
FROM ${name}
`
}

/** Uploaded files; the path is null where the row holds the bytes. */
export const LIST_FILES = `
SELECT file_key, project_id, digest, size_bytes, path
FROM files
ORDER BY file_key
`

/** The bytes of a small file; by primary key. */
export const FIND_CONTENT = `
SELECT content
FROM files
WHERE file_key = @file_key
`

/** Payloads of all jobs, weights of visible checkpoints, and what running jobs resume from or have staged. */
export const LIST_BLOBS = `
SELECT payload_path AS path, 'training_payloads' AS kind
FROM training_jobs
UNION
SELECT artifact_path, 'artifacts'
FROM checkpoints
WHERE artifact_path IS NOT NULL AND deleted_at_us IS NULL
UNION
SELECT parents.artifact_path, 'artifacts'
FROM training_jobs
JOIN checkpoints AS parents ON parents.id = training_jobs.parent_checkpoint_id
WHERE training_jobs.state = 'running' AND parents.artifact_path IS NOT NULL
UNION
SELECT staged_path, 'artifacts'
FROM training_jobs
WHERE state = 'running' AND staged_path IS NOT NULL
ORDER BY path
`
