-- Evaluations and scores that the server runs. The results are calls and feedback.
CREATE TABLE evaluation_jobs (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  work_json text NOT NULL,
  -- Who began it and pays.
  principal_json text NOT NULL,
  created_at_us bigint NOT NULL,
  state text NOT NULL,
  completed_rows integer NOT NULL,
  total_rows integer NOT NULL,
  -- How often a process has begun with it.
  attempts integer NOT NULL,
  error text,
  output_json text,
  -- Of the process that runs it; null: none does.
  claim_id text,
  claimed_until_us bigint NOT NULL
);
CREATE INDEX evaluation_jobs_running ON evaluation_jobs (created_at_us, id) WHERE state = 'running';
CREATE INDEX evaluation_jobs_finished ON evaluation_jobs (created_at_us, id) WHERE state <> 'running';
