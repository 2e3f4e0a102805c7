-- Records of logs that belong to spans: they wait for their span, and stay a while for a repetition of it.
CREATE TABLE call_logs (
  project_id TEXT NOT NULL,
  -- Also the id of the call.
  span_id TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  received_at_us INTEGER NOT NULL,
  -- Whether the call is stored with them.
  is_joined INTEGER NOT NULL DEFAULT 0,
  ref_scheme TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  -- A list of events of a span, each JSON as a text.
  events_json TEXT NOT NULL,
  PRIMARY KEY (project_id, span_id, trace_id)
) STRICT;

CREATE INDEX call_logs_is_joined_received_at_us ON call_logs (is_joined, received_at_us, size_bytes);
