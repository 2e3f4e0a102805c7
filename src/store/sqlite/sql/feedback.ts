/** Statements over feedback. */

/** Feedback whose id is new; nothing happens when the id is taken (feedback_project_id_id). */
export const INSERT_FEEDBACK = `
INSERT INTO feedback (
  project_id,
  id,
  weave_ref,
  feedback_type,
  creator,
  annotation_ref,
  runnable_ref,
  call_ref,
  trigger_ref,
  queue_id,
  svc_user_id,
  created_at_us,
  payload_json
)
VALUES (
  @project_id,
  @id,
  @weave_ref,
  @feedback_type,
  @creator,
  @annotation_ref,
  @runnable_ref,
  @call_ref,
  @trigger_ref,
  @queue_id,
  @svc_user_id,
  @created_at_us,
  @payload_json
)
ON CONFLICT (project_id, id) DO NOTHING
`

/** One feedback record (feedback_project_id_id). */
export const FIND_FEEDBACK = `
SELECT
  project_id,
  id,
  weave_ref,
  feedback_type,
  creator,
  annotation_ref,
  runnable_ref,
  call_ref,
  trigger_ref,
  queue_id,
  svc_user_id,
  created_at_us,
  payload_json
FROM feedback
WHERE project_id = @project_id AND id = @id
`

/**
 * The feedback of a window, the newest first, without payloads: the index alone is read
 * (feedback_project_id_created_at_us_id_feedback_type_trigger_ref).
 */
export const SELECT_FEEDBACK_WINDOW = `
SELECT
  feedback_key,
  trigger_ref
FROM feedback
WHERE project_id = @project_id
  AND created_at_us >= @start_us
  AND created_at_us < @end_us
  AND (@feedback_type IS NULL OR feedback_type = @feedback_type)
  AND (@trigger_ref IS NULL OR trigger_ref = @trigger_ref)
  AND (
    @trigger_prefix IS NULL
    OR substr(trigger_ref, 1, length(@trigger_prefix)) = @trigger_prefix
  )
ORDER BY created_at_us DESC, id DESC
`

/** One payload; by primary key. */
export const FIND_PAYLOAD = `
SELECT payload_json
FROM feedback
WHERE feedback_key = @feedback_key
`
