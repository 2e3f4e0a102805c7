/** Statements over projects. */

/** Whether a project has calls, or names of calls: one row or none. */
export const FIND_PROJECT = `
SELECT 1 AS found
FROM (
  SELECT 1 FROM call_ids WHERE project_id = {project_id:String}
  UNION ALL
  SELECT 1 FROM call_early_ends WHERE project_id = {project_id:String}
  UNION ALL
  SELECT 1 FROM call_names WHERE project_id = {project_id:String}
  UNION ALL
  SELECT 1 FROM call_projects WHERE project_id = {project_id:String}
)
LIMIT 1
`

/** All projects with calls, or with names of calls. */
export const LIST_PROJECTS = `
SELECT DISTINCT project_id
FROM (
  SELECT DISTINCT project_id
  FROM call_ids
  UNION ALL
  SELECT DISTINCT project_id
  FROM call_early_ends
  UNION ALL
  SELECT DISTINCT project_id
  FROM call_names
  UNION ALL
  SELECT DISTINCT project_id
  FROM call_projects
)
ORDER BY project_id
`
