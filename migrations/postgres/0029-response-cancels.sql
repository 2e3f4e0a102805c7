-- Requests to cancel responses, for the process that produces them. Few and short-lived.
CREATE TABLE response_cancels (
  id text NOT NULL PRIMARY KEY,
  response_id text NOT NULL,
  -- Whose request it is: key and projects.
  caller_json text NOT NULL,
  requested_at_us bigint NOT NULL,
  -- The cancelled response; NULL until a process has cancelled it.
  response_json text
);
