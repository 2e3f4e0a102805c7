/** Statements over projects. */

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
