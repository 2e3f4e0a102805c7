/** Statements for lists of training jobs. */
import type { Dialect } from '../db/dialect.ts'
import { cursorCondition } from '../db/listing.sql.ts'
import { MODEL_COLUMN_LIST } from '../models/preview-models.sql.ts'
import { JOB_COLUMN_LIST } from './training-jobs.sql.ts'

type Order = 'asc' | 'desc'

/** Jobs after a cursor; those of a status (training_jobs_created_at_us, training_jobs_state_created_at_us). */
export function selectJobs(order: Order, ofStatus: boolean): string {
  return `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE ${ofStatus ? 'state = @status AND ' : ''}${cursorCondition(order)}
`
}

/** The jobs of one model after a position in its queue (training_jobs_model_id_seq). */
export function selectModelJobs(order: Order): string {
  return `
SELECT ${JOB_COLUMN_LIST}
FROM training_jobs
WHERE model_id = @model_id
  AND seq ${order === 'asc' ? '>' : '<'} CAST(@after_seq AS bigint)
  AND (CAST(@status AS text) IS NULL OR state = CAST(@status AS text))
ORDER BY seq ${order}
LIMIT @limit
`
}

/** Columns that are shown of jobs besides their rows; both by primary key. */
export function viewStatements({ among }: Dialect) {
  return {
    /** Models, deleted or not. */
    FIND_MODELS: `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE id ${among('ids')}
`,
    /** Steps of checkpoints, deleted or not. */
    FIND_RESULT_STEPS: `
SELECT id, step
FROM checkpoints
WHERE id ${among('ids')}
`,
  }
}

export type ViewStatements = ReturnType<typeof viewStatements>
