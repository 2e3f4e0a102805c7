/** Statements for published objects and their contents. Their indexes are named as in SQLite. */
import type { ObjectVersionFilter } from '../../../schemas/objects/object.ts'
import type { Dialect } from '../db/dialect.ts'

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

/** The tags of a version, by primary key, and its aliases, by object_aliases_object_key. */
function marksOf({ sortedList }: Dialect): string {
  return `
  (
    SELECT ${sortedList('object_tags.tag')}
    FROM object_tags
    WHERE object_tags.object_key = objects.object_key
  ) AS tags_json,
  (
    SELECT ${sortedList('object_aliases.alias')}
    FROM object_aliases
    WHERE object_aliases.object_key = objects.object_key
  ) AS aliases_json
`
}

/** Empty marks, instead of those of a version, of which there may be thousands. */
const NO_MARKS = `
  '[]' AS tags_json,
  '[]' AS aliases_json
`

/** The columns of a version. @param marks - marksOf or NO_MARKS */
function columnsWith(marks: string): string {
  return `
  objects.object_key,
  objects.project_id,
  objects.object_id,
  objects.digest,
  objects.version_index,
  CAST(${IS_LATEST} AS integer) AS is_latest,
  objects.kind,
  objects.base_object_class,
  objects.leaf_object_class,
  objects.svc_user_id,
  objects.created_at_us,
  objects.deleted_at_us,
  octet_length(json_values.val_json) AS size_bytes,
  ${marks.trim()}
`
}

const JOIN_CONTENTS = `JOIN json_values
  ON json_values.project_id = objects.project_id AND json_values.digest = objects.digest`

/** The statement that finds a version by each kind of name. */
export interface VersionStatements {
  readonly byDigest: string
  readonly byNumber: string
  readonly byAlias: string
  readonly latest: string
  readonly newest: string
}

function findVersions(select: string): VersionStatements {
  const ofObject = `
${select}
WHERE objects.project_id = @project_id AND objects.object_id = @object_id`
  return {
    /** By content (objects_project_id_object_id_digest). */
    byDigest: `${ofObject}
  AND objects.digest = @digest
`,
    /** By number (objects_project_id_object_id_version_index). */
    byNumber: `${ofObject}
  AND objects.version_index = CAST(@version_index AS bigint)
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
    latest: `${ofObject}
  AND objects.deleted_at_us IS NULL
ORDER BY objects.deleted_at_us DESC, objects.version_index DESC
LIMIT 1
`,
    /** The newest, deleted or not (objects_project_id_object_id_version_index). */
    newest: `${ofObject}
ORDER BY objects.version_index DESC
LIMIT 1
`,
  }
}

const SELECT_CURSOR_ROW = `SELECT
  objects.object_key,
  objects.digest,
  objects.version_index,
  objects.base_object_class,
  objects.leaf_object_class,
  objects.deleted_at_us
FROM objects`

/** Without tags, aliases and sizes. */
export const FIND_VERSION_KEYS = findVersions(SELECT_CURSOR_ROW)

/** The versions of an object that are not deleted (objects_project_id_object_id_deleted_at_us_version_index). */
export const LIST_LIVE_VERSION_KEYS = `
${SELECT_CURSOR_ROW}
WHERE objects.project_id = @project_id
  AND objects.object_id = @object_id
  AND objects.deleted_at_us IS NULL
ORDER BY objects.version_index
`

/** The SQL of the allowed sort orders of versions. */
export const OBJECT_ORDERS = {
  object_id: { asc: 'objects.object_id ASC', desc: 'objects.object_id DESC' },
  created_at: {
    asc: 'objects.created_at_us ASC, objects.object_key ASC',
    desc: 'objects.created_at_us DESC, objects.object_key DESC',
  },
} as const

export type ObjectCondition = Exclude<keyof ObjectVersionFilter, 'is_op'> | 'kind'

/** The conditions on versions, each with a parameter of its name. */
function conditionsIn({ among }: Dialect): Readonly<Record<ObjectCondition, string>> {
  return {
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
  }
}

/** The statements whose text depends on the database. */
export function objectStatements(dialect: Dialect) {
  const columns = columnsWith(marksOf(dialect))
  const selectVersion = (selected: string) => `SELECT ${selected} FROM objects
${JOIN_CONTENTS}`
  const conditionOf = conditionsIn(dialect)
  return {
    FIND_VERSIONS: findVersions(selectVersion(columns)),
    FIND_UNMARKED: findVersions(selectVersion(columnsWith(NO_MARKS))),
    /** Hides versions; by primary key. */
    DELETE_OBJECTS: `
UPDATE objects
SET deleted_at_us = @deleted_at_us
WHERE object_key ${dialect.among('object_keys', 'bigint')} AND deleted_at_us IS NULL
`,
    /**
     * Returns the statement for the matching versions of a project that are not deleted. It selects the page first, then
     * its columns (objects_project_id_created_at_us for the order by time; objects_project_id_object_id_version_index).
     *
     * @param order - entries of OBJECT_ORDERS
     */
    listObjects(order: readonly string[], conditions: readonly ObjectCondition[]): string {
      const isByTime =
        order[0]?.startsWith('objects.created_at_us') && !conditions.includes('object_ids')
      const index = isByTime
        ? 'objects_project_id_created_at_us'
        : 'objects_project_id_object_id_version_index'
      const terms = [...order, 'objects.object_key ASC'].join(', ')
      return `
WITH page AS MATERIALIZED (
  SELECT objects.object_key
  FROM objects ${dialect.indexedBy(index)}
  WHERE objects.project_id = @project_id
    AND objects.deleted_at_us IS NULL
    ${conditions.map((name) => `AND ${conditionOf[name]}`).join('\n    ')}
  ORDER BY ${terms}
  LIMIT @limit OFFSET @offset
)
SELECT ${columns}
FROM page
JOIN objects ON objects.object_key = page.object_key
${JOIN_CONTENTS}
ORDER BY ${terms}
`
    },
  }
}

export type ObjectStatements = ReturnType<typeof objectStatements>
