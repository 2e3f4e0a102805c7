/** Statements of lists of threads. */
import { liveRows } from '../calls/calls.sql.ts'

function turns(isNamed: boolean): string {
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
HAVING max(has_start) = 1`
}

/** The turns of threads, thread by thread, in the order in which they were stored. */
export function selectTurns(isNamed: boolean): string {
  return `${turns(isNamed)}
ORDER BY thread_id, min(stored_at), id
`
}

/** The threads of a window that were updated last, and others that were at the time of the last of these. */
export const SELECT_NEWEST_THREADS = `
SELECT thread_id
FROM (${turns(false)}
)
GROUP BY thread_id
HAVING min(started_at_us) > {after_us:Int64}
  AND max(ifnull(ended_at_us, started_at_us)) < {before_us:Int64}
ORDER BY max(ifnull(ended_at_us, started_at_us)) DESC
LIMIT {limit:UInt32} WITH TIES
`
