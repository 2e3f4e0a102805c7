/** Statements for checkpoints. */

/**
 * Whether a file is in use: by a checkpoint that is not deleted (checkpoints_artifact_path), or by a running job that
 * resumes from it or has staged it (training_jobs_running).
 */
export const IS_ARTIFACT_USED = `
SELECT
  EXISTS (SELECT 1 FROM checkpoints WHERE artifact_path = @path AND deleted_at_us IS NULL)
  OR EXISTS (
    SELECT 1
    FROM training_jobs INDEXED BY training_jobs_running
    LEFT JOIN checkpoints AS parents ON parents.id = training_jobs.parent_checkpoint_id
    WHERE training_jobs.state = 'running'
      AND (training_jobs.staged_path = @path OR parents.artifact_path = @path)
  ) AS is_used
`
