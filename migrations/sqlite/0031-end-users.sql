-- The end user for whom a call was made, as its attributes or its request name them; NULL: not named. Of older calls it is
-- read from their attributes, where spans of all dialects and attributes of the SDKs have it. Only attributes that name
-- a user are parsed.
ALTER TABLE calls ADD COLUMN end_user_id TEXT;

UPDATE calls
SET end_user_id = named.end_user_id
FROM (
  SELECT
    found.call_key,
    found.value AS end_user_id
  FROM (
    SELECT
      texts.call_key,
      coalesce(
        iif(json_type(texts.attributes, '$.end_user_id') IN ('text', 'integer'), texts.attributes ->> '$.end_user_id', NULL),
        iif(json_type(texts.attributes, '$.user') IN ('text', 'integer'), texts.attributes ->> '$.user', NULL),
        iif(json_type(texts.attributes, '$.user.id') IN ('text', 'integer'), texts.attributes ->> '$.user.id', NULL),
        iif(json_type(texts.attributes, '$.user_id') IN ('text', 'integer'), texts.attributes ->> '$.user_id', NULL)
      ) AS value
    FROM (
      SELECT
        call_key,
        coalesce(attributes_json, unzstd(attributes_zstd)) AS attributes
      FROM call_bodies
      WHERE attributes_json IS NOT NULL OR attributes_zstd IS NOT NULL
    ) AS texts
    WHERE instr(texts.attributes, '"user') > 0 OR instr(texts.attributes, '"end_user_id"') > 0
  ) AS found
  WHERE length(trim(found.value)) BETWEEN 1 AND 256
) AS named
WHERE calls.call_key = named.call_key
  AND calls.started_at_us IS NOT NULL
  AND calls.is_freed = 0;

CREATE INDEX calls_project_key_end_user_id_started_at_us
ON calls (project_key, end_user_id, started_at_us) WHERE end_user_id IS NOT NULL;

-- Segments of hours have a column of end users.
UPDATE stats_hours
SET
  built_revision = NULL,
  generation = generation + 1;
