/** Statements for the contents of projects and their retention that run on SQLite and PostgreSQL alike. */

/** Each by an index that begins with the project. */
export const FIND_CONTENTS = `
SELECT 1 AS found
WHERE EXISTS (SELECT 1 FROM feedback WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM objects WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM tables WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM files WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM annotation_queues WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM prices WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM project_retention WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM project_redaction WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM served_aliases WHERE project_id = @project_id)
  OR EXISTS (SELECT 1 FROM preview_models WHERE entity = @entity AND project = @project)
`

/** By primary key. */
export const FIND_RETENTION = `
SELECT project_id, retention_days
FROM project_retention
WHERE project_id = @project_id
`

export const SET_RETENTION = `
INSERT INTO project_retention (project_id, retention_days)
VALUES (@project_id, @retention_days)
ON CONFLICT (project_id) DO UPDATE SET retention_days = excluded.retention_days
`

/** The next settings by project (primary key). */
export const LIST_RETENTIONS = `
SELECT project_id, retention_days
FROM project_retention
WHERE project_id > @after
ORDER BY project_id
LIMIT @limit
`

export const LIST_REDACTIONS = `
SELECT project_id, rules_json
FROM project_redaction
ORDER BY project_id
LIMIT @limit
`

/** By primary key. */
export const FIND_REDACTION = `
SELECT rules_json
FROM project_redaction
WHERE project_id = @project_id
`

export const COUNT_REDACTIONS = `
SELECT count(*) AS count
FROM project_redaction
WHERE project_id <> @project_id
`

export const SET_REDACTION = `
INSERT INTO project_redaction (project_id, rules_json)
VALUES (@project_id, @rules_json)
ON CONFLICT (project_id) DO UPDATE SET rules_json = excluded.rules_json
`

export const REMOVE_REDACTION = `
DELETE FROM project_redaction
WHERE project_id = @project_id
`
