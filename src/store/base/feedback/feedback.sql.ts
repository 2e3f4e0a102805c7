/** Statements for feedback that run on SQLite and PostgreSQL alike. */

export const FEEDBACK_COLUMNS = [
  'project_id',
  'id',
  'weave_ref',
  'feedback_type',
  'creator',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
  'svc_user_id',
  'created_at_us',
  'scores_json',
  'payload_json',
]

/** All but the payload. */
export const NARROW_COLUMNS = FEEDBACK_COLUMNS.filter((name) => name !== 'payload_json')

/** What is summed up of scores. */
export const SELECT_SCORES = `
SELECT
  created_at_us,
  feedback_type,
  weave_ref,
  runnable_ref,
  trigger_ref,
  scores_json
FROM feedback`
