-- The hours of statistics in pieces, and what happened since they were built. A piece holds entries: starts of
-- calls, ends, or both at once, so that an end adds an entry and changes none.

DROP TABLE stats_segments;
DROP TABLE stats_columns;
DROP INDEX stats_hours_dirty;
ALTER TABLE stats_hours DROP COLUMN is_dirty;
ALTER TABLE stats_hours RENAME COLUMN rewrites TO generation;
-- The pieces hold what happened up to this revision. NULL: they have to be built from the rows of the calls.
ALTER TABLE stats_hours ADD COLUMN built_revision INTEGER DEFAULT 0;
ALTER TABLE stats_hours ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;
-- Entries since then.
ALTER TABLE stats_hours ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
UPDATE stats_hours SET built_revision = NULL;

CREATE INDEX stats_hours_unbuilt ON stats_hours (hour_key) WHERE built_revision IS NOT revision;

-- Entries by commit, as JSON, until they stand in a piece.
CREATE TABLE stats_changes (
  hour_key INTEGER NOT NULL REFERENCES stats_hours (hour_key),
  revision INTEGER NOT NULL,
  entries_json TEXT NOT NULL,
  PRIMARY KEY (hour_key, revision)
) STRICT, WITHOUT ROWID;

-- The sums of a piece, apart from its columns so that they lie close together; segment_key is
-- hour_key * 8192 + the place of the piece * 2, plus one every other time that it is written.
CREATE TABLE stats_segments (
  segment_key INTEGER NOT NULL PRIMARY KEY,
  body BLOB NOT NULL
) STRICT;

-- The columns of a piece, one value an entry; column_key is segment_key * 16 + the number of the column.
CREATE TABLE stats_columns (
  column_key INTEGER NOT NULL PRIMARY KEY,
  body BLOB NOT NULL
) STRICT;
