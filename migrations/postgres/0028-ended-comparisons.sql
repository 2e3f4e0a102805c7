-- Comparisons of models that have ended, by project.
CREATE INDEX evaluation_jobs_comparisons ON evaluation_jobs (project_id, created_at_us, id)
WHERE state <> 'running' AND substr(work_json, 1, 17) = '{"kind":"compare"';
