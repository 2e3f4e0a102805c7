-- Names by which projects serve models that they may exchange.
CREATE TABLE served_aliases (
  project_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  target text NOT NULL,
  -- The model that gets a share of the traffic, and its percent; both or neither.
  candidate text,
  candidate_percent double precision,
  -- JSON list of earlier targets, the newest first.
  earlier_json text NOT NULL,
  updated_at_us bigint NOT NULL,
  PRIMARY KEY (project_id, name)
);
