/** Statements for how long projects keep their calls. */

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
