-- A list of jobs of a rare status, or of models of one name, reads no others.
CREATE INDEX training_jobs_state_created_at_us ON training_jobs (state, created_at_us, id);
CREATE INDEX preview_models_name_created_at_us ON preview_models (name, created_at_us, id);
