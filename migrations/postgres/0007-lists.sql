-- Lists of the newest versions are read in their order. Of the whole table: without statistics a partial index seems to
-- have so few rows that the versions of one object are looked for in it, among all of the project.
CREATE INDEX objects_project_id_created_at_us_object_key ON objects (project_id, created_at_us, object_key);

-- Items of a queue in the order in which they were added.
CREATE INDEX annotation_items_queue_key_item_key ON annotation_items (queue_key, item_key);
