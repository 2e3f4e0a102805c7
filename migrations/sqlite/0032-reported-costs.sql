-- What clients report as the cost of a model, in 10^-8 US dollars, and what decides its price: the tier that served it, and
-- the name of a relayed model at its upstream.
ALTER TABLE call_usage ADD COLUMN upstream_model TEXT;
ALTER TABLE call_usage ADD COLUMN service_tier TEXT;
ALTER TABLE call_usage ADD COLUMN reports_cost INTEGER NOT NULL DEFAULT 0 CHECK (reports_cost IN (0, 1));
ALTER TABLE call_usage ADD COLUMN reported_cost_microcents INTEGER NOT NULL DEFAULT 0 CHECK (reported_cost_microcents >= 0);
ALTER TABLE call_usage ADD COLUMN nested_reported_cost_microcents INTEGER;

-- Sums of children's reports exist for all counters or for none.
UPDATE call_usage
SET nested_reported_cost_microcents = 0
WHERE nested_requests IS NOT NULL;

-- Segments of hours have a column for each counter.
UPDATE stats_hours
SET
  built_revision = NULL,
  generation = generation + 1;
