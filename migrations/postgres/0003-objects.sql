CREATE TABLE json_values (
  value_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  -- SHA-256 of the canonical text, 43 characters.
  digest text COLLATE "C" NOT NULL,
  -- As the first client sent it.
  val_json text NOT NULL,
  UNIQUE (project_id, digest)
);

CREATE TABLE objects (
  object_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  -- From 0; never given out again.
  version_index integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('op', 'object')),
  base_object_class text,
  leaf_object_class text,
  svc_user_id text NOT NULL,
  created_at_us bigint NOT NULL,
  deleted_at_us bigint,
  UNIQUE (project_id, object_id, digest),
  UNIQUE (project_id, object_id, version_index)
);

CREATE TABLE object_tags (
  object_key bigint NOT NULL REFERENCES objects (object_key),
  tag text COLLATE "C" NOT NULL,
  PRIMARY KEY (object_key, tag)
);

CREATE TABLE object_aliases (
  project_id text COLLATE "C" NOT NULL,
  object_id text COLLATE "C" NOT NULL,
  alias text COLLATE "C" NOT NULL,
  object_key bigint NOT NULL REFERENCES objects (object_key),
  PRIMARY KEY (project_id, object_id, alias)
);

CREATE INDEX object_aliases_object_key ON object_aliases (object_key, alias);

CREATE TABLE tables (
  table_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id text COLLATE "C" NOT NULL,
  -- SHA-256 of the row digests, 64 characters.
  digest text COLLATE "C" NOT NULL,
  row_count integer NOT NULL,
  storage_size_bytes bigint NOT NULL,
  UNIQUE (project_id, digest)
);

-- 1024 rows each, but for the last.
CREATE TABLE table_blocks (
  table_key bigint NOT NULL REFERENCES tables (table_key),
  block integer NOT NULL,
  value_keys bigint[] NOT NULL,
  PRIMARY KEY (table_key, block)
);

-- Without a project while it is received.
CREATE TABLE files (
  file_key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id text COLLATE "C",
  digest text COLLATE "C",
  size_bytes bigint,
  received_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, digest),
  CHECK (project_id IS NULL OR (digest IS NOT NULL AND size_bytes IS NOT NULL))
);

CREATE INDEX files_received_at ON files (received_at) WHERE project_id IS NULL;

CREATE TABLE file_chunks (
  file_key bigint NOT NULL REFERENCES files (file_key) ON DELETE CASCADE,
  chunk integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (file_key, chunk)
);

-- What is compressed already is not compressed again.
ALTER TABLE file_chunks ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE responses (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  project_id text,
  key_id text NOT NULL,
  created_at_us bigint NOT NULL,
  previous_response_id text,
  -- As it was answered.
  response_json text NOT NULL,
  -- The items of its own input, each with an id.
  input_json text NOT NULL
);
