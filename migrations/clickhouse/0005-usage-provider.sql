-- The provider of a model as the client names it, by which prices are found; empty: not known.
ALTER TABLE calls{on_cluster}
  ADD COLUMN IF NOT EXISTS `usage.provider` Array(String),
  ADD COLUMN IF NOT EXISTS `own.provider` Array(String);
