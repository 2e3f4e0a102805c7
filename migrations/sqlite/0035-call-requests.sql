-- One request counts once: what identifies the request that a call reports, where its response has an id, or where one
-- of two calls names the other.
CREATE TABLE call_requests (
  call_key INTEGER PRIMARY KEY,
  project_key INTEGER NOT NULL,
  -- A hash of the response's id.
  response_key TEXT,
  -- The call that the client names as the same request.
  linked_id ANY,
  -- Equal in all calls of a request; NULL while the call does not count.
  identity TEXT,
  -- 1 where so many calls share the identity that it is none.
  is_shared INTEGER NOT NULL DEFAULT 0 CHECK (is_shared IN (0, 1))
) STRICT;

CREATE INDEX call_requests_project_key_identity ON call_requests (project_key, identity)
WHERE identity IS NOT NULL;
CREATE INDEX call_requests_project_key_linked_id ON call_requests (project_key, linked_id)
WHERE linked_id IS NOT NULL;

-- What the children report of all models together; NULL where they report nothing.
ALTER TABLE call_usage ADD COLUMN below_input_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN below_output_tokens INTEGER;
-- Where the report counts: 0 here, 1 at another call of the same request, 2 at the children, of which it is the sum.
ALTER TABLE call_usage ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0 CHECK (repeats BETWEEN 0 AND 3);

-- Of two calls that name each other as parents the earlier one is the parent.
UPDATE call_usage
SET
  below_input_tokens = below.input_tokens,
  below_output_tokens = below.output_tokens
FROM (
  SELECT
    parents.call_key,
    CAST(min(total(reports.input_tokens), 9007199254740991) AS INTEGER) AS input_tokens,
    CAST(min(total(reports.output_tokens), 9007199254740991) AS INTEGER) AS output_tokens
  FROM calls AS children
  CROSS JOIN call_usage AS reports ON reports.call_key = children.call_key
  CROSS JOIN calls AS parents ON parents.project_key = children.project_key
    AND parents.id = children.parent_id
  WHERE children.parent_id IS NOT NULL
    AND children.started_at_us IS NOT NULL
    AND children.deleted_at_us IS NULL
    AND children.call_key <> parents.call_key
    AND (
      parents.parent_id IS NOT children.id
      OR (parents.started_at_us, parents.id) < (children.started_at_us, children.id)
    )
    AND EXISTS (SELECT 1 FROM call_usage AS held WHERE held.call_key = parents.call_key)
  GROUP BY parents.call_key
) AS below
WHERE call_usage.call_key = below.call_key;

UPDATE call_usage
SET repeats = 2
WHERE below_input_tokens IS NOT NULL
  AND call_key IN (
    SELECT call_key
    FROM call_usage
    WHERE below_input_tokens IS NOT NULL
    GROUP BY call_key
    HAVING count(*) = 1
      AND sum(input_tokens) + sum(output_tokens) > 0
      AND sum(input_tokens) = max(below_input_tokens)
      AND sum(output_tokens) = max(below_output_tokens)
  );

-- Pieces of hours are built again where a report counts at the children.
UPDATE stats_hours
SET
  built_revision = NULL,
  generation = generation + 1
WHERE (project_id, hour) IN (
  SELECT
    (SELECT project_id FROM projects WHERE projects.project_key = calls.project_key),
    calls.started_at_us / 3600000000
  FROM call_usage
  CROSS JOIN calls ON calls.call_key = call_usage.call_key
  WHERE repeats = 2 AND calls.started_at_us IS NOT NULL
);
