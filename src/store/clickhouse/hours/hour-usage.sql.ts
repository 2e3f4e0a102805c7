/** Statements that build the usage of hours from rows, read it, and list the hours in which it is not valid. */
import { liveRows } from '../calls/calls.sql.ts'
import { USAGE_SUMS, withUnsettled } from '../stats/stats.sql.ts'
import { SERVED, type UsageScope, usageRows } from '../stats/usage-rows.sql.ts'
import { ALL_DOUBLES } from '../usage/requests.sql.ts'
import { builtRows, hourOf, type TimeRange } from './hours.sql.ts'

/**
 * Builds the usage of hours of a project by model, of all ops and of each: as reported, or each token once. Requests that have
 * several calls are not considered: which of these counts can change with any of them.
 */
export function buildUsage(
  { isOwn, isSettled }: Pick<UsageScope, 'isOwn' | 'isSettled'>,
  ranges: readonly TimeRange[],
): string {
  const all = { conditions: [], isDoubled: false, isMerged: true, callColumns: ['op_name'] }
  const scope = { ...all, isOwn, isSettled, ranges }
  const served = SERVED.join(', ')
  return `
INSERT INTO hour_usage
${withUnsettled(scope)}
SELECT
  {project_id:String},
  ${isOwn ? 1 : 0},
  1 - grouping(op) AS is_op,
  op,
  hour,
  {version:UInt64},
  ${served},
  ${USAGE_SUMS}
FROM (
  SELECT
    ${hourOf('started_at_us')} AS hour,
    toString(op_name) AS op,
    *
  FROM (${usageRows(scope)}
  )
)
GROUP BY GROUPING SETS ((hour, ${served}), (hour, op, ${served}))
`
}

/** USAGE_NUMBERS of built hours by model, in order of time; of several ops a model has several rows. */
export function selectHourUsage(isOwn: boolean, hasOps: boolean): string {
  return `
SELECT
  hour,
  ${SERVED.join(',\n  ')},
  numbers
${builtRows('hour_usage', hasOps)}
  AND is_own = ${isOwn ? 1 : 0}
ORDER BY hour
`
}

/** Hours with calls of requests that may have several, or with parents of these: their rows say which of them count. */
export const LIST_DOUBLED_HOURS = `
SELECT DISTINCT ${hourOf('started_at_us')} AS hour
FROM call_ids
WHERE project_id = {project_id:String}
  AND started_at_us >= {start_us:Int64}
  AND started_at_us < {end_us:Int64}
  AND (
    id IN (${ALL_DOUBLES})
    OR id IN (
      SELECT assumeNotNull(parent_id)
      FROM calls
      WHERE ${liveRows([])}
        AND parent_id IS NOT NULL
        AND id IN (${ALL_DOUBLES})
        AND started_at_us IN (
          SELECT started_at_us
          FROM call_ids
          WHERE project_id = {project_id:String} AND id IN (${ALL_DOUBLES})
        )
    )
  )
`
