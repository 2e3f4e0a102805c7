-- Statistics by hours. A segment is a cache of one hour of a project's calls; it can always be built again
-- from the rows. Calls by thread and by turn.

-- One row for each hour in which a call of the project started; hour counts from the epoch.
CREATE TABLE stats_hours (
  hour_key INTEGER NOT NULL PRIMARY KEY,
  project_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  -- Raised by every commit that changed calls of the hour.
  revision INTEGER NOT NULL DEFAULT 1,
  -- Raised with it when a call went, or came by a row that was there before.
  rewrites INTEGER NOT NULL DEFAULT 0,
  -- 0: the segment is that of this revision.
  is_dirty INTEGER NOT NULL DEFAULT 1 CHECK (is_dirty IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX stats_hours_project_id_hour ON stats_hours (project_id, hour);
CREATE INDEX stats_hours_dirty ON stats_hours (hour_key) WHERE is_dirty = 1;

-- The sums of an hour, apart from its columns so that they lie close together.
CREATE TABLE stats_segments (
  hour_key INTEGER NOT NULL PRIMARY KEY REFERENCES stats_hours (hour_key),
  body BLOB NOT NULL
) STRICT;

-- The columns of an hour, one value a call; column_key is hour_key * 16 + the number of the column.
CREATE TABLE stats_columns (
  column_key INTEGER NOT NULL PRIMARY KEY,
  body BLOB NOT NULL
) STRICT;

-- The hours of a database that already holds calls: a walk along calls_project_id_started_at_us from hour to hour.
WITH RECURSIVE
walk (project_id, next_us) AS (
  SELECT '', -9000000000000000000
  UNION ALL
  SELECT
    calls.project_id,
    calls.started_at_us - (calls.started_at_us % 3600000000 + 3600000000) % 3600000000 + 3600000000
  FROM walk
  CROSS JOIN calls ON calls.call_key = (
    SELECT following.call_key
    FROM calls AS following
    WHERE (following.project_id, following.started_at_us) >= (walk.project_id, walk.next_us)
      AND following.started_at_us IS NOT NULL
    ORDER BY following.project_id, following.started_at_us
    LIMIT 1
  )
)
INSERT INTO stats_hours (project_id, hour)
SELECT project_id, next_us / 3600000000 - 1
FROM walk
WHERE project_id <> '';

CREATE INDEX calls_project_id_thread_id ON calls (project_id, thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX calls_project_id_turn_id ON calls (project_id, turn_id) WHERE turn_id IS NOT NULL;
