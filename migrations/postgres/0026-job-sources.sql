-- Which calls a job was made of, as JSON; null: it was sent as trajectories.
ALTER TABLE training_jobs ADD COLUMN source_json text COLLATE "C";
