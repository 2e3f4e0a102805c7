-- What clients report as the cost of a model, in 10^-8 US dollars, and what decides its price: the tier that served it, and
-- the name of a relayed model at its upstream; empty: not known.
ALTER TABLE calls{on_cluster}
  ADD COLUMN IF NOT EXISTS `usage.upstream_model` Array(String),
  ADD COLUMN IF NOT EXISTS `usage.service_tier` Array(String),
  ADD COLUMN IF NOT EXISTS `usage.reports_cost` Array(UInt8),
  ADD COLUMN IF NOT EXISTS `usage.reported_cost_microcents` Array(UInt64),
  ADD COLUMN IF NOT EXISTS `own.upstream_model` Array(String),
  ADD COLUMN IF NOT EXISTS `own.service_tier` Array(String),
  ADD COLUMN IF NOT EXISTS `own.reports_cost` Array(UInt8),
  ADD COLUMN IF NOT EXISTS `own.reported_cost_microcents` Array(UInt64);
