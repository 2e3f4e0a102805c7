/** Statements for the tags and aliases of objects. */

/** By primary key, like the other statements for tags. */
export const INSERT_TAG = `
INSERT INTO object_tags (object_key, tag)
VALUES (@object_key, @tag)
ON CONFLICT (object_key, tag) DO NOTHING
`

export const DELETE_TAG = `
DELETE FROM object_tags
WHERE object_key = @object_key AND tag = @tag
`

export const COUNT_TAGS = `
SELECT count(*)
FROM object_tags
WHERE object_key = @object_key
`

/** Points an alias to a version, whatever it pointed to before; by primary key, like the others for aliases. */
export const SET_ALIAS = `
INSERT INTO object_aliases (project_id, object_id, alias, object_key)
VALUES (@project_id, @object_id, @alias, @object_key)
ON CONFLICT (project_id, object_id, alias) DO UPDATE SET object_key = excluded.object_key
`

export const DELETE_ALIAS = `
DELETE FROM object_aliases
WHERE project_id = @project_id AND object_id = @object_id AND alias = @alias
`

export const COUNT_ALIASES = `
SELECT count(*)
FROM object_aliases
WHERE project_id = @project_id AND object_id = @object_id
`

/** The tags of all versions of a project that are not deleted (objects_project_id_object_id_version_index). */
export const LIST_TAGS = `
SELECT object_tags.tag
FROM objects
CROSS JOIN object_tags ON object_tags.object_key = objects.object_key
WHERE objects.project_id = @project_id AND objects.deleted_at_us IS NULL
`

/** The aliases of all versions of a project that are not deleted (primary key of object_aliases). */
export const LIST_ALIASES = `
SELECT object_aliases.alias
FROM object_aliases
CROSS JOIN objects ON objects.object_key = object_aliases.object_key
WHERE object_aliases.project_id = @project_id AND objects.deleted_at_us IS NULL
`
