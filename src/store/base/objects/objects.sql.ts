/** Statements for objects that run on SQLite and PostgreSQL alike. */

/**
 * Inserts the next version of an object unless a version has the content; a deleted one is restored
 * (objects_project_id_object_id_version_index).
 */
export const INSERT_OBJECT = `
INSERT INTO objects (
  project_id,
  object_id,
  digest,
  version_index,
  kind,
  base_object_class,
  leaf_object_class,
  svc_user_id,
  created_at_us
)
SELECT
  @project_id,
  @object_id,
  @digest,
  coalesce(max(version_index) + 1, 0),
  @kind,
  @base_object_class,
  @leaf_object_class,
  @svc_user_id,
  CAST(@created_at_us AS bigint)
FROM objects
WHERE project_id = @project_id AND object_id = @object_id
ON CONFLICT (project_id, object_id, digest) DO UPDATE SET
  deleted_at_us = NULL,
  created_at_us = excluded.created_at_us,
  svc_user_id = excluded.svc_user_id
WHERE objects.deleted_at_us IS NOT NULL
`
