-- Where in a call's inputs or output a ref stands, so that fields behind refs are found without the call's text. Calls of
-- before have no paths: their texts are read.
CREATE TABLE ref_paths (
  path_key INTEGER NOT NULL PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE call_refs ADD COLUMN path_key INTEGER REFERENCES ref_paths (path_key);
