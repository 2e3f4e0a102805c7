-- Failed calls by trace: calls above them have the status descendant_error.
CREATE INDEX calls_failed ON calls (project_key, trace_id) WHERE exception IS NOT NULL;
