/** Statements for lists of training jobs that only PostgreSQL has. */
import { JOB_COLUMN_LIST } from '../../base/training/training-jobs.sql.ts'

/** Jobs after a cursor, ascending or descending (training_jobs_created_at_us). */
export const LIST_TRAINING_JOBS = {
  asc: listAll('>', 'created_at_us, id'),
  desc: listAll('<', 'created_at_us DESC, id DESC'),
} as const

/** The jobs of one model after a cursor, ascending or descending (training_jobs_model_id_seq). */
export const LIST_MODEL_JOBS = {
  asc: listOfModel('>', 'seq'),
  desc: listOfModel('<', 'seq DESC'),
} as const

function listAll(sign: '<' | '>', order: string): string {
  return `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE (created_at_us, id) ${sign} (@after_us, @after_id)
  AND (@status::text IS NULL OR state = @status::text)
ORDER BY ${order}
LIMIT @limit
`
}

function listOfModel(sign: '<' | '>', order: string): string {
  return `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id
  AND seq ${sign} @after_seq::bigint
  AND (@status::text IS NULL OR state = @status::text)
ORDER BY ${order}
LIMIT @limit
`
}

/** Steps of checkpoints, deleted or not; by primary key. */
export const FIND_RESULT_STEPS = `
SELECT id, step
FROM checkpoints
WHERE id = ANY (@ids::text[])
`
