-- Evaluations and scores that the server runs. The results are calls and feedback.
CREATE TABLE evaluation_jobs (
  id TEXT NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  work_json TEXT NOT NULL,
  -- Who began it and pays.
  principal_json TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  state TEXT NOT NULL,
  completed_rows INTEGER NOT NULL,
  total_rows INTEGER NOT NULL,
  -- How often a process has begun with it.
  attempts INTEGER NOT NULL,
  error TEXT,
  output_json TEXT,
  -- Of the process that runs it; null: none does.
  claim_id TEXT,
  claimed_until_us INTEGER NOT NULL
) STRICT;
CREATE INDEX evaluation_jobs_running ON evaluation_jobs (created_at_us, id) WHERE state = 'running';
CREATE INDEX evaluation_jobs_finished ON evaluation_jobs (created_at_us, id) WHERE state <> 'running';
