/** Statements for usage over trees of calls. */
import { idText, PROJECT_KEY, packedId } from '../calls/columns/id-columns.sql.ts'

/** The traces of calls (calls_project_key_id). */
export const SELECT_TRACES_OF_CALLS = `
SELECT DISTINCT ${idText('calls.trace_id')} AS trace_id
FROM calls INDEXED BY calls_project_key_id
WHERE project_key = ${PROJECT_KEY}
  AND id IN (SELECT ${packedId('value')} FROM json_each(@call_ids))
  AND started_at_us IS NOT NULL
  AND deleted_at_us IS NULL
`
