/** Statements over the bytes of training: payloads of jobs, and weights of checkpoints. */

/** Registers a new path before its bytes are received. */
export const BEGIN_BLOB = `
INSERT INTO blobs (path)
VALUES (@path)
`

/** The next bytes. */
export const INSERT_CHUNK = `
INSERT INTO blob_chunks (path, chunk, content)
VALUES (@path, @chunk, @content)
`

/** One chunk; by primary key. */
export const FIND_CHUNK = `
SELECT content
FROM blob_chunks
WHERE path = @path AND chunk = @chunk
`

/**
 * Paths that no job and no checkpoint needs: a payload belongs to its job (training_jobs_payload_path); weights are used by
 * a checkpoint that is not deleted (checkpoints_artifact_path), or as what a running job goes on from or has staged
 * (training_jobs_running).
 */
const UNUSED = `
  NOT EXISTS (SELECT 1 FROM training_jobs WHERE training_jobs.payload_path = blobs.path)
  AND NOT EXISTS (
    SELECT 1
    FROM checkpoints
    WHERE checkpoints.artifact_path = blobs.path AND checkpoints.deleted_at_us IS NULL
  )
  AND NOT EXISTS (
    SELECT 1
    FROM training_jobs
    LEFT JOIN checkpoints AS parents ON parents.id = training_jobs.parent_checkpoint_id
    WHERE training_jobs.state = 'running'
      AND (training_jobs.staged_path = blobs.path OR parents.artifact_path = blobs.path)
  )
`

/** The paths that nothing needs, of those given; by primary key. */
export const LIST_UNUSED = `
SELECT path
FROM blobs
WHERE path = ANY (@paths::text[]) AND ${UNUSED}
`

/** Abandoned bytes: no upload takes this long. */
export const LIST_LEFT = `
SELECT path
FROM blobs
WHERE received_at < now() - interval '1 day' AND ${UNUSED}
`

/** The last bytes of a path: all of them could exceed the time of a statement; by primary key. */
export const DELETE_CHUNKS = `
DELETE FROM blob_chunks
WHERE path = @path
  AND chunk IN (SELECT chunk FROM blob_chunks WHERE path = @path ORDER BY chunk DESC LIMIT @limit)
`

/** By primary key. */
export const DELETE_BLOB = `
DELETE FROM blobs
WHERE path = @path
`
