/** Statements for training jobs. */
import { JOB_COLUMN_LIST } from '../../base/training/training-jobs.sql.ts'

/** Jobs after a cursor, ascending (training_jobs_created_at_us). */
export const LIST_TRAINING_JOBS_ASC = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE (created_at_us, id) > (@after_us, @after_id)
ORDER BY created_at_us, id
`

/** Jobs of one status behind a place, upwards (training_jobs_state_created_at_us). */
export const LIST_STATUS_JOBS_ASC = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE state = @status AND (created_at_us, id) > (@after_us, @after_id)
ORDER BY created_at_us, id
`

/** Jobs after a cursor, descending (training_jobs_created_at_us). */
export const LIST_TRAINING_JOBS_DESC = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE (created_at_us, id) < (@after_us, @after_id)
ORDER BY created_at_us DESC, id DESC
`

/** Jobs of one status behind a place, downwards (training_jobs_state_created_at_us). */
export const LIST_STATUS_JOBS_DESC = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE state = @status AND (created_at_us, id) < (@after_us, @after_id)
ORDER BY created_at_us DESC, id DESC
`

/** The jobs of one model after a cursor, ascending (training_jobs_model_id_seq). */
export const LIST_MODEL_JOBS_ASC = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id AND seq > @after_seq AND (@status IS NULL OR state = @status)
ORDER BY seq
`

/** The jobs of one model after a cursor, descending (training_jobs_model_id_seq). */
export const LIST_MODEL_JOBS_DESC = `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id AND seq < @after_seq AND (@status IS NULL OR state = @status)
ORDER BY seq DESC
`
