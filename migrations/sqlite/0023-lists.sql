-- Lists of the newest versions are read in their order.
CREATE INDEX objects_project_id_created_at_us
ON objects (project_id, created_at_us) WHERE deleted_at_us IS NULL;

-- Items of a queue in the order in which they were added.
CREATE INDEX annotation_items_queue_key ON annotation_items (queue_key);
