-- One row a feedback record; rows are never changed. created_at_us is the server's clock.
CREATE TABLE feedback (
  feedback_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL,
  weave_ref TEXT NOT NULL,
  feedback_type TEXT NOT NULL,
  creator TEXT,
  annotation_ref TEXT,
  runnable_ref TEXT,
  call_ref TEXT,
  trigger_ref TEXT,
  queue_id TEXT,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  payload_json TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX feedback_project_id_id ON feedback (project_id, id);
-- The two ways to choose a sample of a window without reading a payload: along the time, and from group to
-- group of one type and trigger.
CREATE INDEX feedback_project_id_created_at_us_id_feedback_type_trigger_ref
ON feedback (project_id, created_at_us, id, feedback_type, trigger_ref);
CREATE INDEX feedback_project_id_feedback_type_trigger_ref_created_at_us_id
ON feedback (project_id, feedback_type, trigger_ref, created_at_us, id);
