/** Statements for published objects and their contents. */

/** Inserts a content unless the project has it (json_values_project_id_digest). */
export const INSERT_JSON_VALUE = `
INSERT INTO json_values (project_id, digest, val_json)
VALUES (@project_id, @digest, @val_json)
ON CONFLICT (project_id, digest) DO NOTHING
`

/** The text of a content (json_values_project_id_digest). */
export const FIND_JSON_VALUE = `
SELECT val_json
FROM json_values
WHERE project_id = @project_id AND digest = @digest
`

/**
 * Whether a version is the latest (objects_project_id_object_id_deleted_at_us_version_index, in whose order it is
 * sought, so that deleted versions cost nothing).
 */
const IS_LATEST = `objects.version_index IS (
    SELECT newer.version_index
    FROM objects AS newer
    WHERE newer.project_id = objects.project_id
      AND newer.object_id = objects.object_id
      AND newer.deleted_at_us IS NULL
    ORDER BY newer.deleted_at_us DESC, newer.version_index DESC
    LIMIT 1
  )`

/** The columns of a version; its tags by primary key, its aliases by object_aliases_object_key. */
const OBJECT_COLUMNS = `
  objects.project_id,
  objects.object_id,
  objects.digest,
  objects.version_index,
  ${IS_LATEST} AS is_latest,
  objects.kind,
  objects.base_object_class,
  objects.leaf_object_class,
  objects.svc_user_id,
  objects.created_at_us,
  objects.deleted_at_us,
  octet_length(json_values.val_json) AS size_bytes,
  (
    SELECT json_group_array(object_tags.tag ORDER BY object_tags.tag)
    FROM object_tags
    WHERE object_tags.object_key = objects.object_key
  ) AS tags_json,
  (
    SELECT json_group_array(object_aliases.alias ORDER BY object_aliases.alias)
    FROM object_aliases
    WHERE object_aliases.object_key = objects.object_key
  ) AS aliases_json
`

const OBJECT_TABLES = `
FROM objects
JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
`

const WHOLE_VERSION = `SELECT ${OBJECT_COLUMNS} ${OBJECT_TABLES}`
/** Only the digest of the content, without tags, aliases or sizes. */
const PLACE_OF_VERSION = 'SELECT objects.digest, objects.deleted_at_us FROM objects'

/** The statement that finds a version by each kind of name. */
export interface VersionStatements {
  readonly byDigest: string
  readonly byNumber: string
  readonly byAlias: string
  readonly latest: string
  readonly newest: string
}

function findVersions(select: string): VersionStatements {
  return {
    /** By content (objects_project_id_object_id_digest). */
    byDigest: `
${select}
WHERE objects.project_id = @project_id
  AND objects.object_id = @object_id
  AND objects.digest = @digest
`,
    /** By number (objects_project_id_object_id_version_index). */
    byNumber: `
${select}
WHERE objects.project_id = @project_id
  AND objects.object_id = @object_id
  AND objects.version_index = @version_index
`,
    /** By alias (primary key of object_aliases). */
    byAlias: `
${select}
WHERE objects.object_key = (
  SELECT object_key
  FROM object_aliases
  WHERE project_id = @project_id AND object_id = @object_id AND alias = @alias
)
`,
    /** The newest that is not deleted (objects_project_id_object_id_deleted_at_us_version_index). */
    latest: `
${select}
WHERE objects.project_id = @project_id
  AND objects.object_id = @object_id
  AND objects.deleted_at_us IS NULL
ORDER BY objects.deleted_at_us DESC, objects.version_index DESC
LIMIT 1
`,
    /** The newest, deleted or not (objects_project_id_object_id_version_index). */
    newest: `
${select}
WHERE objects.project_id = @project_id AND objects.object_id = @object_id
ORDER BY objects.version_index DESC
LIMIT 1
`,
  }
}

export const FIND_VERSIONS = findVersions(WHOLE_VERSION)
export const FIND_PLACES = findVersions(PLACE_OF_VERSION)

/** The key of a version (objects_project_id_object_id_digest). */
export const FIND_OBJECT_KEY = `
SELECT object_key
FROM objects
WHERE project_id = @project_id AND object_id = @object_id AND digest = @digest
`

/** The versions of an object that are not deleted (objects_project_id_object_id_version_index). */
export const LIST_LIVE_VERSIONS = `
SELECT ${OBJECT_COLUMNS} ${OBJECT_TABLES}
WHERE objects.project_id = @project_id
  AND objects.object_id = @object_id
  AND objects.deleted_at_us IS NULL
ORDER BY objects.version_index
`

/** Hides a version (objects_project_id_object_id_digest). */
export const DELETE_OBJECT = `
UPDATE objects
SET deleted_at_us = @deleted_at_us
WHERE project_id = @project_id
  AND object_id = @object_id
  AND digest = @digest
  AND deleted_at_us IS NULL
`

/** The SQL of the allowed sort orders of versions. */
export const OBJECT_ORDERS = {
  object_id: { asc: 'objects.object_id ASC', desc: 'objects.object_id DESC' },
  created_at: {
    asc: 'objects.created_at_us ASC, objects.object_key ASC',
    desc: 'objects.created_at_us DESC, objects.object_key DESC',
  },
} as const

const among = (list: string) => `IN (SELECT value FROM json_each(@${list}))`

/** The conditions on versions, each with a parameter of its name. */
const OBJECT_CONDITIONS = {
  object_ids: `objects.object_id ${among('object_ids')}`,
  kind: 'objects.kind = @kind',
  base_object_classes: `objects.base_object_class ${among('base_object_classes')}`,
  exclude_base_object_classes: `(
      objects.base_object_class IS NULL
      OR NOT objects.base_object_class ${among('exclude_base_object_classes')}
    )`,
  leaf_object_classes: `objects.leaf_object_class ${among('leaf_object_classes')}`,
  tags: `EXISTS (
      SELECT 1
      FROM object_tags
      WHERE object_tags.object_key = objects.object_key AND object_tags.tag ${among('tags')}
    )`,
  latest_only: IS_LATEST,
  aliases: `(
      ('latest' ${among('aliases')} AND ${IS_LATEST})
      OR EXISTS (
        SELECT 1
        FROM object_aliases
        WHERE object_aliases.object_key = objects.object_key
          AND object_aliases.alias ${among('aliases')}
      )
    )`,
} as const

export type ObjectCondition = keyof typeof OBJECT_CONDITIONS

/**
 * The matching versions of a project that are not deleted. Selects the page first, then its columns
 * (objects_project_id_created_at_us for the order by time; objects_project_id_object_id_version_index).
 *
 * @param order - entries of OBJECT_ORDERS
 */
export function listObjects(
  order: readonly string[],
  conditions: readonly ObjectCondition[],
): string {
  const isByTime =
    order[0]?.startsWith('objects.created_at_us') && !conditions.includes('object_ids')
  const index = isByTime
    ? 'objects_project_id_created_at_us'
    : 'objects_project_id_object_id_version_index'
  const terms = [...order, 'objects.object_key ASC'].join(', ')
  return `
WITH page AS MATERIALIZED (
  SELECT objects.object_key
  FROM objects INDEXED BY ${index}
  WHERE objects.project_id = @project_id
    AND objects.deleted_at_us IS NULL
    ${conditions.map((name) => `AND ${OBJECT_CONDITIONS[name]}`).join('\n    ')}
  ORDER BY ${terms}
  LIMIT @limit OFFSET @offset
)
SELECT ${OBJECT_COLUMNS}
FROM page
CROSS JOIN objects ON objects.object_key = page.object_key
CROSS JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest
ORDER BY ${terms}
`
}
