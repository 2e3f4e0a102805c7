-- The provider of a model as the client names it, by which prices are found; NULL: not known.
ALTER TABLE call_usage ADD COLUMN provider TEXT;
