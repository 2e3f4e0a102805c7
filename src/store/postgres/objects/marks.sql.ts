/** Statements of the tags and aliases of objects. */

/** By primary key, as are the others of tags. */
export const INSERT_TAGS = `
INSERT INTO object_tags (object_key, tag)
SELECT @object_key, name
FROM unnest(@names::text[]) AS name
ON CONFLICT (object_key, tag) DO NOTHING
`

export const DELETE_TAGS = `
DELETE FROM object_tags
WHERE object_key = @object_key AND tag = ANY (@names::text[])
`

export const COUNT_TAGS = `
SELECT count(*) AS count
FROM object_tags
WHERE object_key = @object_key
`

/** Points aliases at a version, replacing earlier targets; by primary key, as are the other statements of aliases. */
export const SET_ALIASES = `
INSERT INTO object_aliases (project_id, object_id, alias, object_key)
SELECT DISTINCT @project_id, @object_id, name, @object_key::bigint
FROM unnest(@names::text[]) AS name
ON CONFLICT (project_id, object_id, alias) DO UPDATE SET object_key = excluded.object_key
`

export const DELETE_ALIASES = `
DELETE FROM object_aliases
WHERE project_id = @project_id AND object_id = @object_id AND alias = ANY (@names::text[])
`

export const COUNT_ALIASES = `
SELECT count(*) AS count
FROM object_aliases
WHERE project_id = @project_id AND object_id = @object_id
`

/** The tags of all versions of a project that are not deleted (objects_project_id_object_id_version_index_key). */
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
