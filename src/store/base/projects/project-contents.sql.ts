/** Whether a project has anything besides calls, in SQLite and PostgreSQL alike. */

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
  OR EXISTS (SELECT 1 FROM preview_models WHERE entity = @entity AND project = @project)
`
