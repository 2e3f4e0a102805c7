/** Statements for a backup: they read whole tables of the copy, which nothing else uses. */

/**
 * The files that rows name, with the bytes and the digest of each: uploads, payloads of training jobs, weights of
 * visible checkpoints, and what running jobs resume from or have staged.
 */
export const LIST_NAMED_FILES = `
SELECT path, size_bytes AS bytes, digest, 'files' AS kind
FROM files
WHERE path IS NOT NULL
UNION
SELECT payload_path, payload_bytes, payload_sha256, 'training_payloads'
FROM training_jobs
UNION
SELECT checkpoints.artifact_path, checkpoints.artifact_bytes, checkpoints.artifact_sha256, 'artifacts'
FROM checkpoints
LEFT JOIN training_jobs
  ON training_jobs.parent_checkpoint_id = checkpoints.id AND training_jobs.state = 'running'
WHERE checkpoints.artifact_path IS NOT NULL
  AND (checkpoints.deleted_at_us IS NULL OR training_jobs.id IS NOT NULL)
UNION
SELECT staged_path, staged_bytes, staged_sha256, 'artifacts'
FROM training_jobs
WHERE state = 'running' AND staged_path IS NOT NULL
`
