/**
 * Statements that remove rows. Deleted rows are masked, so that reads skip them at once; to free the disk, parts are
 * rewritten without them. Replicas follow by themselves, so no statement names a cluster.
 */
import { hourOf } from '../../hours/hours.sql.ts'
import { IS_NOT_DELETED } from '../calls.sql.ts'

/** The first call of a project that began before a time, also after an interrupted step. */
export const FIND_EXPIRED = `
SELECT
  count() AS found,
  min(started_at_us) AS first_us
FROM (
${['calls', 'call_ids'].map(timesBefore).join('\n  UNION ALL\n')}
)
`

function timesBefore(table: string): string {
  return `
  SELECT started_at_us
  FROM ${table}
  WHERE project_id = {project_id:String} AND started_at_us < {before_us:Int64}`.slice(1)
}

/** Calls of a project within a time. */
const OF_TIME = `project_id = {project_id:String}
  AND started_at_us >= {from_us:Int64}
  AND started_at_us < {to_us:Int64}`

/** Deleted calls are counted when their deletion is removed. */
export const COUNT_OF_TIME = `
SELECT uniqExact(id) AS calls
FROM calls
WHERE ${OF_TIME}
  AND ${IS_NOT_DELETED}
`

/** The next deleted calls of a period that are not freed. */
export const LIST_UNFREED = `
SELECT id
FROM call_deletions
WHERE project_id = {project_id:String}
  AND id IN (
    SELECT id
    FROM call_ids
    WHERE ${OF_TIME}
  )
GROUP BY id
HAVING max(began_us) IS NULL
LIMIT {limit:UInt32}
`

/** The next calls of a period that were given a name. */
export const LIST_NAMED = `
SELECT DISTINCT id
FROM call_names
WHERE project_id = {project_id:String}
  AND id IN (
    SELECT id
    FROM call_ids
    WHERE ${OF_TIME}
  )
LIMIT {limit:UInt32}
`

/** Hours after a period with parents of calls of the period that report usage: it is their own from then on. */
export const LIST_LATER_PARENTS = `
SELECT DISTINCT ${hourOf('started_at_us')} AS hour
FROM call_ids
WHERE project_id = {project_id:String}
  AND started_at_us >= {to_us:Int64}
  AND id IN (
    SELECT assumeNotNull(parent_id)
    FROM calls
    WHERE ${OF_TIME}
      AND parent_id IS NOT NULL
      AND notEmpty(usage.model)
  )
`

export function deleteOfTime(table: 'call_ids' | 'call_orphans' | 'calls'): string {
  return `
DELETE FROM ${table}
WHERE ${OF_TIME}
`
}

/** What other tables have of calls of a period, before their ids are removed. */
export function deleteOfStarted(table: 'call_doubles' | 'call_logs' | 'call_requests'): string {
  return `
DELETE FROM ${table}
WHERE project_id = {project_id:String}
  AND id IN (
    SELECT id
    FROM call_ids
    WHERE ${OF_TIME}
  )
`
}

/**
 * Requests of which one call remains, which so is the only one: in `call_requests` only those of named calls, whose
 * rows are written with those of the calls that name them.
 */
export function deleteLoneRequests(table: 'call_requests' | 'call_doubles'): string {
  return `
DELETE FROM ${table}
WHERE project_id = {project_id:String}
  AND request IN (
    SELECT request
    FROM ${table}
    WHERE project_id = {project_id:String}
      ${table === 'call_requests' ? "AND startsWith(request, 'call ')" : ''}
    GROUP BY request
    HAVING uniqExact(id) = 1
  )
`
}

const OLD_ENDS = `project_id = {project_id:String} AND ended_at_us < {before_us:Int64}`

/** Ends that arrived before their start, and how many have none. Deleted ones are counted with their deletion. */
export const COUNT_EARLY_ENDS = `
SELECT
  count() AS found,
  uniqExactIf(id, ${IS_NOT_DELETED} AND id NOT IN (
    SELECT id
    FROM call_ids
    WHERE project_id = {project_id:String}
      AND id IN (
        SELECT id
        FROM call_early_ends
        WHERE ${OLD_ENDS}
      )
  )) AS calls
FROM call_early_ends
WHERE ${OLD_ENDS}
`

export const DELETE_EARLY_ENDS = `
DELETE FROM call_early_ends
WHERE ${OLD_ENDS}
`

/** The next deletions of calls from before a time, in the order of their ids. */
export const LIST_OLD_DELETIONS = `
SELECT id
FROM call_deletions
WHERE project_id = {project_id:String} AND id > {after:String}
GROUP BY id
HAVING ifNull(max(began_us), min(deleted_at_us)) < {before_us:Int64}
ORDER BY id
LIMIT {limit:UInt32}
`

/** Deletions of ids. */
export const LIST_DELETIONS = `
SELECT
  id,
  min(deleted_at_us) AS deleted_at_us,
  max(began_us) AS began_us
FROM call_deletions
WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
GROUP BY id
`

/** Deleted calls that still have other rows. */
export const LIST_DELETED = `
SELECT DISTINCT
  project_id,
  id
FROM (
${['call_ids', 'call_names', 'call_early_ends', 'call_logs'].map(ofDeleted).join('\n  UNION ALL\n')}
)
ORDER BY project_id
LIMIT {limit:UInt32}
`

function ofDeleted(table: string): string {
  return `
  SELECT
    project_id,
    id
  FROM ${table}
  WHERE (project_id, id) IN (
    SELECT
      project_id,
      id
    FROM call_deletions
  )`.slice(1)
}

/** When calls of ids began. */
export const LIST_STARTS = `
SELECT DISTINCT
  id,
  started_at_us
FROM call_ids
WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
`

export const DELETE_CALLS = `
DELETE FROM calls
WHERE project_id = {project_id:String}
  AND started_at_us IN {times:Array(Int64)}
  AND id IN {ids:Array(String)}
`

export function deleteOfIds(
  table:
    | 'call_ids'
    | 'call_names'
    | 'call_early_ends'
    | 'call_deletions'
    | 'call_logs'
    | 'call_orphans'
    | 'call_requests'
    | 'call_doubles',
): string {
  return `
DELETE FROM ${table}
WHERE project_id = {project_id:String} AND id IN {ids:Array(String)}
`
}

/** Rows by partition, including deleted ones that still take space. */
export function countRows(table: string): string {
  return `
SELECT
  _partition_id AS partition,
  count() AS stored,
  countIf(_row_exists = 0) AS deleted
FROM ${table}
GROUP BY partition
SETTINGS apply_deleted_mask = 0
`
}

/** Rewrites the parts of a partition without deleted rows. */
export function freePartition(table: string): string {
  return `ALTER TABLE ${table} APPLY DELETED MASK IN PARTITION ID {partition:String}`
}
