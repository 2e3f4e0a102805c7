-- Clients may send any version that JSON holds exactly.
ALTER TABLE training_jobs
ALTER COLUMN oldest_policy_version TYPE bigint,
ALTER COLUMN policy_lag TYPE bigint;
