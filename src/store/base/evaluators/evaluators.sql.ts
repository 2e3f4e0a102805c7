/** Statements for evaluators and their tasks. */
import type { Dialect } from '../db/dialect.ts'
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'project_id',
  'name',
  'version',
  'definition_json',
  'ref',
  'monitor_ref',
  'state',
  'principal_json',
  'from_position',
  'failures',
  'retry_at_us',
  'last_error',
  'backfill_json',
  'created_at_us',
  'updated_at_us',
]
export const TASK_COLUMNS = [
  'evaluator_id',
  'subject_id',
  'is_backfill',
  'queued_at_us',
  'due_at_us',
  'attempts',
  'lease_expires_at_us',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM evaluators`

export const INSERT_EVALUATOR = insertNamed('evaluators', COLUMNS)

export const INSERT_VERSION = insertNamed('evaluator_versions', [
  'evaluator_id',
  'version',
  'definition_json',
  'ref',
  'svc_user_id',
  'created_at_us',
])

/** By primary key. */
export const FIND_EVALUATOR = `
${SELECT}
WHERE id = @id
`

/** By the index of names. */
export const FIND_NAME = `
SELECT id
FROM evaluators
WHERE project_id = @project_id AND name = @name
`

export const COUNT_EVALUATORS = `
SELECT count(*) AS count
FROM evaluators
WHERE project_id = @project_id
`

export const COUNT_ALL = 'SELECT count(*) AS count FROM evaluators'

export const LIST_EVALUATORS = `
${SELECT}
WHERE project_id = @project_id
ORDER BY name
LIMIT @limit
`

export const LIST_ACTIVE = `
${SELECT}
WHERE state = 'active'
ORDER BY id
LIMIT @limit
`

export const LIST_VERSIONS = `
SELECT version, definition_json, ref, svc_user_id, created_at_us
FROM evaluator_versions
WHERE evaluator_id = @id
ORDER BY version DESC
LIMIT @limit
`

export const UPDATE_EVALUATOR = `
UPDATE evaluators
SET
  version = @version,
  definition_json = @definition_json,
  ref = @ref,
  monitor_ref = @monitor_ref,
  state = @state,
  principal_json = @principal_json,
  from_position = @from_position,
  failures = 0,
  retry_at_us = 0,
  updated_at_us = @updated_at_us
WHERE id = @id
`

/** Only as it was read: an edit since then may have replaced the payer. */
export const STOP_EVALUATOR = `
UPDATE evaluators
SET state = 'paused', last_error = @error
WHERE id = @id AND principal_json = @principal_json AND updated_at_us = @updated_at_us
`

export const SET_BACKFILL = `
UPDATE evaluators
SET backfill_json = @backfill_json
WHERE id = @id
`

/** The next failure, or a success. */
export const SET_FAILURES = `
UPDATE evaluators
SET failures = @failures, retry_at_us = @retry_at_us, last_error = @last_error
WHERE id = @id
`

/** What waits for an evaluator or the rules of a queue; by primary key. */
export const DELETE_TASKS = `
DELETE FROM evaluator_tasks
WHERE evaluator_id = @id
`

/** The same, and what they have counted. */
export const DELETE_WORK = [
  DELETE_TASKS,
  'DELETE FROM evaluator_days WHERE evaluator_id = @id',
] as const

export const DELETES = [
  ...DELETE_WORK,
  'DELETE FROM evaluator_versions WHERE evaluator_id = @id',
  'DELETE FROM evaluators WHERE id = @id',
] as const

/** Adds to the counts of a day. */
export const ADD_DAY = `
INSERT INTO evaluator_days (evaluator_id, day, scored, failed, dropped, spent_nanos)
VALUES (@evaluator_id, @day, @scored, @failed, @dropped, @spent_nanos)
ON CONFLICT (evaluator_id, day)
DO UPDATE SET
  scored = evaluator_days.scored + excluded.scored,
  failed = evaluator_days.failed + excluded.failed,
  dropped = evaluator_days.dropped + excluded.dropped,
  spent_nanos = evaluator_days.spent_nanos + excluded.spent_nanos
`

/** By primary key. */
export const FIND_DAY = `
SELECT scored, spent_nanos
FROM evaluator_days
WHERE evaluator_id = @evaluator_id AND day = @day
`

export const SUM_DAYS = `
SELECT
  CAST(coalesce(sum(scored), 0) AS bigint) AS scored,
  CAST(coalesce(sum(failed), 0) AS bigint) AS failed,
  CAST(coalesce(sum(dropped), 0) AS bigint) AS dropped,
  CAST(coalesce(sum(spent_nanos), 0) AS bigint) AS spent_nanos
FROM evaluator_days
WHERE evaluator_id = @evaluator_id
`

export const FIND_POSITION = `
SELECT position
FROM evaluator_feed
WHERE id = 1
`

const INSERT_POSITION = insertNamed('evaluator_feed', ['id', 'position'])

export const SET_POSITION = `${INSERT_POSITION}
ON CONFLICT (id)
DO UPDATE SET position = excluded.position
`

/** Does nothing where there is one. */
export const START_POSITION = `${INSERT_POSITION}
ON CONFLICT (id) DO NOTHING
`

/** By primary key. */
export const COUNT_TASKS = `
SELECT count(*) AS count
FROM evaluator_tasks
WHERE evaluator_id = @evaluator_id
`

export const COUNT_LEASED = `
SELECT count(*) AS count
FROM evaluator_tasks
WHERE evaluator_id = @evaluator_id AND lease_expires_at_us > @now_us
`

export const LEASE_TASK = `
UPDATE evaluator_tasks
SET
  lease_token = @token,
  lease_expires_at_us = @lease_expires_at_us,
  attempts = attempts + 1
WHERE evaluator_id = @evaluator_id AND subject_id = @subject_id
`

/** The tasks of new calls, or of a backfill, that are due longest (evaluator_tasks_evaluator_id_is_backfill_due_at_us). */
export const LIST_DUE = `
SELECT evaluator_id, subject_id, is_backfill, queued_at_us, attempts
FROM evaluator_tasks
WHERE evaluator_id = @evaluator_id
  AND is_backfill = @is_backfill
  AND due_at_us <= @now_us
  AND lease_expires_at_us <= @now_us
ORDER BY due_at_us, subject_id
LIMIT @limit
`

/** Active evaluators with due tasks, but for those that rest after failures of their model. */
export const LIST_CLAIMING = `
${SELECT}
WHERE state = 'active'
  AND retry_at_us <= @now_us
  AND EXISTS (
    SELECT 1
    FROM evaluator_tasks
    WHERE evaluator_id = evaluators.id
      AND due_at_us <= @now_us
      AND lease_expires_at_us <= @now_us
  )
ORDER BY id
`

export const HAS_CLAIMABLE = `
SELECT count(*) AS count
FROM evaluators
WHERE state = 'active'
  AND retry_at_us <= @now_us
  AND EXISTS (
    SELECT 1
    FROM evaluator_tasks
    WHERE evaluator_id = evaluators.id
      AND due_at_us <= @now_us
      AND lease_expires_at_us <= @now_us
  )
`

const HELD = `WHERE evaluator_id = @evaluator_id
  AND subject_id = @subject_id
  AND lease_token = @token`

export const DELETE_TASK = `
DELETE FROM evaluator_tasks
${HELD}
`

/** A time that was moved meanwhile stays, if it is later. */
export function deferTask({ greatest }: Pick<Dialect, 'greatest'>): string {
  return `
UPDATE evaluator_tasks
SET
  due_at_us = ${greatest}(due_at_us, @due_at_us),
  lease_token = NULL,
  lease_expires_at_us = 0
${HELD}
`
}

export const DROP_BACKFILL = `
DELETE FROM evaluator_tasks
WHERE evaluator_id = @evaluator_id AND is_backfill = 1 AND lease_expires_at_us = 0
`

export const RELEASE_TASKS = `
UPDATE evaluator_tasks
SET lease_token = NULL, lease_expires_at_us = 0
WHERE lease_expires_at_us > 0
`

/** For what a clock that has been set back has stored: the time of no wait, lease or rest is later than these. */
export const RESET_TIMES = [
  `UPDATE evaluator_tasks
SET due_at_us = @now_us, queued_at_us = @now_us
WHERE queued_at_us > @queued_us_max OR due_at_us > @due_us_max`,
  `UPDATE evaluator_tasks
SET lease_token = NULL, lease_expires_at_us = 0
WHERE lease_expires_at_us > @lease_us_max`,
  'UPDATE evaluators SET retry_at_us = 0 WHERE retry_at_us > @retry_us_max',
] as const

/** The clause for subjects that wait already. */
export function onWaiting({ greatest }: Pick<Dialect, 'greatest'>): string {
  return `ON CONFLICT (evaluator_id, subject_id)
DO UPDATE SET due_at_us = ${greatest}(evaluator_tasks.due_at_us, excluded.due_at_us)
`
}
