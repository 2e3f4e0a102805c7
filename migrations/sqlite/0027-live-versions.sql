-- The newest version that is not deleted is found without a look at the deleted ones, of which there may be many.
CREATE INDEX objects_project_id_object_id_deleted_at_us_version_index
ON objects (project_id, object_id, deleted_at_us, version_index);
