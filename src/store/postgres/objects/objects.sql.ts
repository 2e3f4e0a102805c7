/** Statements of published objects and their contents. */

/** Inserts contents that the project does not have (json_values_project_id_digest_key). */
export const INSERT_JSON_VALUES = `
INSERT INTO json_values (project_id, digest, val_json)
SELECT @project_id, rows.digest, rows.val_json
FROM unnest(@digests::text[], @texts::text[]) AS rows (digest, val_json)
ON CONFLICT (project_id, digest) DO NOTHING
`

/** The texts of contents (json_values_project_id_digest_key). */
export const FIND_JSON_VALUES = `
SELECT digest, val_json
FROM json_values
WHERE project_id = @project_id AND digest = ANY (@digests::text[])
`

/** Serializes changes of the versions, tags and aliases of an object; the lock ends with the transaction. */
export const LOCK_OBJECT = `
SELECT pg_advisory_xact_lock(hashtextextended('object ' || @project_id || ' ' || @object_id, 0))
`

/**
 * Whether a version is the latest (objects_project_id_object_id_deleted_at_us_version_index, in whose order it is
 * sought, so that deleted versions cost nothing).
 */
const IS_LATEST = `(
    objects.version_index IS NOT DISTINCT FROM (
      SELECT newer.version_index
      FROM objects AS newer
      WHERE newer.project_id = objects.project_id
        AND newer.object_id = objects.object_id
        AND newer.deleted_at_us IS NULL
      ORDER BY newer.deleted_at_us DESC, newer.version_index DESC
      LIMIT 1
    )
  )`

/** The columns of a version; its tags by primary key, its aliases by object_aliases_object_key. */
const OBJECT_COLUMNS = `
  objects.object_key,
  objects.project_id,
  objects.object_id,
  objects.digest,
  objects.version_index,
  ${IS_LATEST}::integer AS is_latest,
  objects.kind,
  objects.base_object_class,
  objects.leaf_object_class,
  objects.svc_user_id,
  objects.created_at_us,
  objects.deleted_at_us,
  octet_length(json_values.val_json) AS size_bytes,
  (
    SELECT coalesce(to_json(array_agg(object_tags.tag ORDER BY object_tags.tag))::text, '[]')
    FROM object_tags
    WHERE object_tags.object_key = objects.object_key
  ) AS tags_json,
  (
    SELECT coalesce(to_json(array_agg(object_aliases.alias ORDER BY object_aliases.alias))::text, '[]')
    FROM object_aliases
    WHERE object_aliases.object_key = objects.object_key
  ) AS aliases_json
`

const VERSION = `
SELECT ${OBJECT_COLUMNS}
FROM objects
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
WHERE objects.project_id = @project_id AND objects.object_id = @object_id`

/** A version by its content or an alias (objects_project_id_object_id_digest_key, primary key of object_aliases). */
export const FIND_NAMED_VERSION = `${VERSION}
  AND (
    objects.digest = @name
    OR objects.object_key = (
      SELECT object_aliases.object_key
      FROM object_aliases
      WHERE object_aliases.project_id = @project_id
        AND object_aliases.object_id = @object_id
        AND object_aliases.alias = @name
    )
  )
ORDER BY objects.digest = @name DESC
LIMIT 1
`

/** By its number (objects_project_id_object_id_version_index_key). */
export const FIND_NUMBERED_VERSION = `${VERSION}
  AND objects.version_index = @version_index::bigint
`

/** The newest that is not deleted, else the newest (objects_project_id_object_id_version_index_key). */
export const FIND_LATEST_VERSION = `${VERSION}
ORDER BY objects.deleted_at_us IS NULL DESC, objects.version_index DESC
LIMIT 1
`

/** The versions of an object that are not deleted (objects_project_id_object_id_version_index_key). */
export const LIST_LIVE_VERSIONS = `${VERSION}
  AND objects.deleted_at_us IS NULL
ORDER BY objects.version_index
`

/** Hides versions; by primary key. */
export const DELETE_OBJECTS = `
UPDATE objects
SET deleted_at_us = @deleted_at_us
WHERE object_key = ANY (@object_keys::bigint[]) AND deleted_at_us IS NULL
`

/** The SQL of the allowed sort orders. */
export const OBJECT_ORDERS = {
  object_id: { asc: 'objects.object_id ASC', desc: 'objects.object_id DESC' },
  created_at: {
    asc: 'objects.created_at_us ASC, objects.object_key ASC',
    desc: 'objects.created_at_us DESC, objects.object_key DESC',
  },
} as const

/**
 * The versions of a project that are not deleted and match: their page first, then their columns; null parameters do
 * not filter (objects_project_id_created_at_us_object_key, objects_project_id_object_id_version_index_key).
 *
 * @param order - entries of OBJECT_ORDERS
 */
export function listObjects(order: readonly string[]): string {
  const terms = [...order, 'objects.object_key ASC'].join(', ')
  return `
WITH page AS MATERIALIZED (
  SELECT objects.object_key
  FROM objects
  WHERE objects.project_id = @project_id
    AND objects.deleted_at_us IS NULL
    AND (@object_ids::text[] IS NULL OR objects.object_id = ANY (@object_ids::text[]))
    AND (@kind::text IS NULL OR objects.kind = @kind::text)
    AND (
      @base_object_classes::text[] IS NULL
      OR objects.base_object_class = ANY (@base_object_classes::text[])
    )
    AND (
      @exclude_base_object_classes::text[] IS NULL
      OR objects.base_object_class IS NULL
      OR objects.base_object_class <> ALL (@exclude_base_object_classes::text[])
    )
    AND (
      @leaf_object_classes::text[] IS NULL
      OR objects.leaf_object_class = ANY (@leaf_object_classes::text[])
    )
    AND (
      @tags::text[] IS NULL
      OR EXISTS (
        SELECT 1
        FROM object_tags
        WHERE object_tags.object_key = objects.object_key
          AND object_tags.tag = ANY (@tags::text[])
      )
    )
    AND (@latest_only::boolean IS NULL OR ${IS_LATEST})
    AND (
      @aliases::text[] IS NULL
      OR ('latest' = ANY (@aliases::text[]) AND ${IS_LATEST})
      OR EXISTS (
        SELECT 1
        FROM object_aliases
        WHERE object_aliases.object_key = objects.object_key
          AND object_aliases.alias = ANY (@aliases::text[])
      )
    )
  ORDER BY ${terms}
  LIMIT @limit OFFSET @offset
)
SELECT ${OBJECT_COLUMNS}
FROM page
JOIN objects ON objects.object_key = page.object_key
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
ORDER BY ${terms}
`
}
