/** Statements of lists of threads. */
import { liveRows } from '../calls/calls.sql.ts'

/** The turns of threads, thread by thread, in the order in which they were stored. */
export function selectTurns(isNamed: boolean): string {
  return `
SELECT
  thread_id,
  id,
  min(started_at_us) AS started_at_us,
  max(ended_at_us) AS ended_at_us
FROM calls
WHERE ${liveRows(isNamed ? ['thread_ids'] : [])}
  AND thread_id IS NOT NULL
  AND turn_id = id
GROUP BY thread_id, id
HAVING max(has_start) = 1
ORDER BY thread_id, min(stored_at), id
`
}
