/** Statements for the events of training jobs. */
import { insertNamed } from '../db/rows.sql.ts'

/** Inserts an event unless its attempt has one with this seq (training_events_job_id_attempt_seq). */
export const INSERT_EVENT = `${insertNamed('training_events', [
  'id',
  'job_id',
  'attempt',
  'seq',
  'type',
  'data_json',
  'created_at_us',
])}ON CONFLICT (job_id, attempt, seq) DO NOTHING
`

/** The number of events of an attempt (training_events_job_id_position). */
export const COUNT_EVENTS = `
SELECT count(*) AS count
FROM training_events
WHERE job_id = @job_id AND attempt = @attempt
`

/** Whether an attempt has any event (training_events_job_id_position). */
export const FIND_FIRST_EVENT = `
SELECT type
FROM training_events
WHERE job_id = @job_id AND attempt = @attempt
ORDER BY position
LIMIT 1
`

/** The position of an event of a job (training_events_id). */
export const FIND_EVENT_POSITION = `
SELECT position
FROM training_events
WHERE id = @id AND job_id = @job_id
`

/** The events of an attempt after a position (training_events_job_id_position). */
export const LIST_EVENTS = `
SELECT
  id,
  type,
  data_json
FROM training_events
WHERE job_id = @job_id AND attempt = @attempt AND position > @after_position
ORDER BY position
LIMIT @count
`
