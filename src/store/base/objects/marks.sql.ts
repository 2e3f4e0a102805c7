/** Statements for the tags and aliases of objects. */
import type { Dialect } from '../db/dialect.ts'

export const COUNT_TAGS = `
SELECT count(*) AS count
FROM object_tags
WHERE object_key = @object_key
`

export const COUNT_ALIASES = `
SELECT count(*) AS count
FROM object_aliases
WHERE project_id = @project_id AND object_id = @object_id
`

/** The tags of all versions of a project that are not deleted (objects_project_id_object_id_version_index). */
export const LIST_TAGS = `
SELECT DISTINCT object_tags.tag AS name
FROM objects
JOIN object_tags ON object_tags.object_key = objects.object_key
WHERE objects.project_id = @project_id AND objects.deleted_at_us IS NULL
ORDER BY name
LIMIT @limit
`

/** The aliases of all versions of a project that are not deleted (primary key of object_aliases). */
export const LIST_ALIASES = `
SELECT DISTINCT object_aliases.alias AS name
FROM object_aliases
JOIN objects ON objects.object_key = object_aliases.object_key
WHERE object_aliases.project_id = @project_id AND objects.deleted_at_us IS NULL
ORDER BY name
LIMIT @limit
`

/** The changes, by primary key. Why WHERE true: otherwise SQLite would read ON as a part of a join. */
export function markStatements({ among, each }: Dialect) {
  return {
    INSERT_TAGS: `
INSERT INTO object_tags (object_key, tag)
SELECT CAST(@object_key AS bigint), names.value
FROM ${each('names')}
WHERE true
ON CONFLICT (object_key, tag) DO NOTHING
`,
    DELETE_TAGS: `
DELETE FROM object_tags
WHERE object_key = @object_key AND tag ${among('names')}
`,
    /** Points aliases to a version, whatever they pointed to before. */
    SET_ALIASES: `
INSERT INTO object_aliases (project_id, object_id, alias, object_key)
SELECT DISTINCT @project_id, @object_id, names.value, CAST(@object_key AS bigint)
FROM ${each('names')}
WHERE true
ON CONFLICT (project_id, object_id, alias) DO UPDATE SET object_key = excluded.object_key
`,
    DELETE_ALIASES: `
DELETE FROM object_aliases
WHERE project_id = @project_id AND object_id = @object_id AND alias ${among('names')}
`,
  }
}

export type MarkStatements = ReturnType<typeof markStatements>
