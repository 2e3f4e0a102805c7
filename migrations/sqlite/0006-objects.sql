-- JSON texts of published objects and table rows, once per project and content. Rows are never changed.
CREATE TABLE json_values (
  value_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  -- SHA-256 of the canonical text, 43 characters.
  digest TEXT NOT NULL,
  -- As the first client sent it.
  val_json TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX json_values_project_id_digest ON json_values (project_id, digest);

-- One row a version of a published object, narrow; its content is the json_values row of the digest.
CREATE TABLE objects (
  object_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  object_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  -- From 0; never given out again.
  version_index INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('op', 'object')),
  base_object_class TEXT,
  leaf_object_class TEXT,
  svc_user_id TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  deleted_at_us INTEGER
) STRICT;

CREATE UNIQUE INDEX objects_project_id_object_id_version_index
ON objects (project_id, object_id, version_index);
CREATE UNIQUE INDEX objects_project_id_object_id_digest ON objects (project_id, object_id, digest);

-- Tables: an ordered list of rows, which are json_values. Rows are never changed.
CREATE TABLE tables (
  table_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  -- SHA-256 of the row digests, 64 characters.
  digest TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  storage_size_bytes INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX tables_project_id_digest ON tables (project_id, digest);

-- The rows of a table by blocks of 1,024: their value_keys in order, as doubles of 8 bytes, low byte first.
CREATE TABLE table_blocks (
  table_key INTEGER NOT NULL REFERENCES tables (table_key),
  block INTEGER NOT NULL,
  value_keys BLOB NOT NULL,
  PRIMARY KEY (table_key, block)
) STRICT;

-- Files by content, once per project. Small ones lie here; of large ones path tells where they are below the
-- data directory, and the file is on the disk before its row.
CREATE TABLE files (
  file_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content BLOB,
  path TEXT,
  CHECK ((content IS NULL) <> (path IS NULL))
) STRICT;

CREATE UNIQUE INDEX files_project_id_digest ON files (project_id, digest);
