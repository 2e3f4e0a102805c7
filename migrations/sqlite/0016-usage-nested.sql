-- Tokens count once: beside what a call reports stands what its children report of the same model, so that what it spent
-- itself can be told from its row alone.

-- 1 when the client told the requests that a report stands for. Both SDKs do; what older rows hold is looked up below
-- where it decides anything.
ALTER TABLE call_usage ADD COLUMN tells_requests INTEGER NOT NULL DEFAULT 1
CHECK (tells_requests IN (0, 1));
-- The sums of the reports of the children that were started and not deleted; NULL where there were none. Requests are
-- those that were told.
ALTER TABLE call_usage ADD COLUMN nested_requests INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_input_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_uncached_input_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_output_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_total_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_cache_read_input_tokens INTEGER;
ALTER TABLE call_usage ADD COLUMN nested_cache_creation_input_tokens INTEGER;

-- Reports that stand below one of the same model.
CREATE TABLE nested_reports (
  parent_key INTEGER NOT NULL,
  child_key INTEGER NOT NULL,
  model TEXT NOT NULL
) STRICT;

INSERT INTO nested_reports (parent_key, child_key, model)
SELECT
  parents.call_key,
  children.call_key,
  reports.model
FROM calls AS children
CROSS JOIN call_usage AS reports ON reports.call_key = children.call_key
CROSS JOIN calls AS parents ON parents.project_key = children.project_key
  AND parents.id = children.parent_id
CROSS JOIN call_usage AS held ON held.call_key = parents.call_key
  AND held.model = reports.model
WHERE children.parent_id IS NOT NULL
  AND children.started_at_us IS NOT NULL
  AND children.deleted_at_us IS NULL
  AND children.call_key <> parents.call_key;

CREATE INDEX nested_reports_parent_key_model ON nested_reports (parent_key, model);

UPDATE call_usage
SET tells_requests = EXISTS (
  SELECT 1
  FROM call_bodies
  CROSS JOIN json_each(coalesce(summary_json, unzstd(summary_zstd)), '$.usage') AS report
  WHERE call_bodies.call_key = call_usage.call_key
    AND report.key = call_usage.model
    AND json_type(report.value, '$.requests') IN ('integer', 'real')
)
WHERE requests = 1
  AND (call_key, model) IN (
    SELECT parent_key, model FROM nested_reports
    UNION
    SELECT child_key, model FROM nested_reports
  );

UPDATE call_usage
SET
  nested_requests = nested.requests,
  nested_input_tokens = nested.input_tokens,
  nested_uncached_input_tokens = nested.uncached_input_tokens,
  nested_output_tokens = nested.output_tokens,
  nested_total_tokens = nested.total_tokens,
  nested_cache_read_input_tokens = nested.cache_read_input_tokens,
  nested_cache_creation_input_tokens = nested.cache_creation_input_tokens
FROM (
  SELECT
    nested_reports.parent_key,
    nested_reports.model,
    CAST(min(total(iif(tells_requests, requests, 0)), 9007199254740991) AS INTEGER) AS requests,
    CAST(min(total(input_tokens), 9007199254740991) AS INTEGER) AS input_tokens,
    CAST(min(total(uncached_input_tokens), 9007199254740991) AS INTEGER) AS uncached_input_tokens,
    CAST(min(total(output_tokens), 9007199254740991) AS INTEGER) AS output_tokens,
    CAST(min(total(total_tokens), 9007199254740991) AS INTEGER) AS total_tokens,
    CAST(min(total(cache_read_input_tokens), 9007199254740991) AS INTEGER) AS cache_read_input_tokens,
    CAST(min(total(cache_creation_input_tokens), 9007199254740991) AS INTEGER) AS cache_creation_input_tokens
  FROM nested_reports INDEXED BY nested_reports_parent_key_model
  CROSS JOIN call_usage AS reports ON reports.call_key = nested_reports.child_key
    AND reports.model = nested_reports.model
  GROUP BY nested_reports.parent_key, nested_reports.model
) AS nested
WHERE call_usage.call_key = nested.parent_key AND call_usage.model = nested.model;

-- Pieces of hours are built again where a call's own usage is another one than its report.
UPDATE stats_hours
SET built_revision = NULL,
  generation = generation + 1
WHERE (project_id, hour) IN (
  SELECT
    (SELECT project_id FROM projects WHERE projects.project_key = calls.project_key),
    calls.started_at_us / 3600000000
  FROM nested_reports
  CROSS JOIN calls ON calls.call_key = nested_reports.parent_key
  WHERE calls.started_at_us IS NOT NULL
);

DROP TABLE nested_reports;
