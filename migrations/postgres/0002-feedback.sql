-- Refs may be longer than an index takes: what is found by them is found by a hash.
CREATE TABLE feedback (
  feedback_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  weave_ref text COLLATE "C" NOT NULL,
  feedback_type text COLLATE "C" NOT NULL,
  creator text,
  annotation_ref text,
  runnable_ref text,
  call_ref text,
  trigger_ref text COLLATE "C",
  queue_id text,
  svc_user_id text NOT NULL,
  created_at_us bigint NOT NULL,
  scores_json text,
  payload_json text NOT NULL,
  UNIQUE (project_id, id)
);

CREATE INDEX feedback_project_id_created_at_us_id ON feedback (project_id, created_at_us, id);

CREATE INDEX feedback_project_id_weave_ref_created_at_us_id
ON feedback (project_id, hashtextextended(weave_ref, 0), created_at_us, id);
