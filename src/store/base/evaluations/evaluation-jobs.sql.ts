/** Statements for evaluations that the server runs. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'project_id',
  'work_json',
  'principal_json',
  'created_at_us',
  'state',
  'completed_rows',
  'total_rows',
  'attempts',
  'error',
  'output_json',
  'claimed_until_us',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM evaluation_jobs`

export const INSERT_JOB = insertNamed('evaluation_jobs', COLUMNS)

/** By primary key. */
export const FIND_JOB = `
${SELECT}
WHERE id = @id AND project_id = @project_id
`

/** Comparisons that have ended, whose work is no longer large, the newest first (evaluation_jobs_comparisons). */
export const LIST_ENDED_COMPARISONS = `
${SELECT}
WHERE project_id = @project_id AND state <> 'running' AND substr(work_json, 1, 17) = '{"kind":"compare"'
ORDER BY created_at_us DESC, id DESC
LIMIT @limit
`

/** By the index of running jobs. */
export const COUNT_RUNNING = `
SELECT count(*) AS count
FROM evaluation_jobs
WHERE state = 'running'
`

export const COUNT_RUNNING_OF_PROJECT = `${COUNT_RUNNING} AND project_id = @project_id`

/** A claim that lasts longer than any was made by a clock that has been set back. By the index of running jobs. */
export function lockClaimable(forUpdate: string): string {
  return `
${SELECT}
WHERE state = 'running' AND (claimed_until_us <= @now_us OR claimed_until_us > @latest_us)
ORDER BY created_at_us, id
LIMIT 1
${forUpdate}
`
}

export const CLAIM_JOB = `
UPDATE evaluation_jobs
SET claim_id = @claim_id, claimed_until_us = @until_us, attempts = attempts + 1
WHERE id = @id
`

const CLAIMED = `id = @id AND claim_id = @claim_id AND state = 'running'`

export const RENEW_CLAIM = `
UPDATE evaluation_jobs
SET claimed_until_us = @until_us, completed_rows = @completed_rows
WHERE ${CLAIMED}
`

export const FINISH_JOB = `
UPDATE evaluation_jobs
SET state = @state, error = @error, output_json = @output_json, completed_rows = @completed_rows
WHERE ${CLAIMED}
`

export const RELEASE_JOB = `
UPDATE evaluation_jobs
SET claimed_until_us = 0, claim_id = NULL
WHERE ${CLAIMED}
`

export const RELEASE_ALL = `
UPDATE evaluation_jobs
SET claimed_until_us = 0, claim_id = NULL
WHERE state = 'running'
`

export const CANCEL_JOB = `
UPDATE evaluation_jobs
SET state = 'cancelled', error = 'cancelled'
WHERE id = @id AND project_id = @project_id AND state = 'running'
`

/** By primary key. */
export const FIND_WORK = `
SELECT work_json
FROM evaluation_jobs
WHERE id = @id
`

export const SET_WORK = `
UPDATE evaluation_jobs
SET work_json = @work_json
WHERE id = @id
`

/** Removes the oldest finished jobs. */
export const PRUNE_JOBS = `
DELETE FROM evaluation_jobs
WHERE state <> 'running' AND id IN (
  SELECT id
  FROM evaluation_jobs
  WHERE state <> 'running'
  ORDER BY created_at_us DESC, id DESC
  LIMIT 1000 OFFSET @limit
)
`
