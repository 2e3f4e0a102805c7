-- Names by which projects serve models that they may exchange.
CREATE TABLE served_aliases (
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  -- The model that gets a share of the traffic, and its percent; both or neither.
  candidate TEXT,
  candidate_percent REAL,
  -- JSON list of earlier targets, the newest first.
  earlier_json TEXT NOT NULL,
  updated_at_us INTEGER NOT NULL,
  PRIMARY KEY (project_id, name)
) STRICT;
