-- What adds calls to a queue by itself; null: nothing does. Calls behind the position of the feed may be added.
ALTER TABLE annotation_queues ADD COLUMN rules_json TEXT;
ALTER TABLE annotation_queues ADD COLUMN rules_position INTEGER NOT NULL DEFAULT 0;
CREATE INDEX annotation_queues_project_id_rules
ON annotation_queues (project_id) WHERE rules_json IS NOT NULL AND deleted_at_us IS NULL;
