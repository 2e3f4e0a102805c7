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
