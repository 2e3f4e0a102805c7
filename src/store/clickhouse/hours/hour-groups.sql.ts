/** Statements that build the groups of the calls of hours, and read groups from built hours. */
import type { StatsGroupField } from '../../../schemas/stats/stats-groups.ts'
import { callsOfUsage, NAMES, namesOfUsage } from '../stats/groups.sql.ts'
import { END_SUMS, withUnsettled } from '../stats/stats.sql.ts'
import { SERVED, type UsageScope } from '../stats/usage-rows.sql.ts'
import { builtRows, hourOf, type TimeRange } from './hours.sql.ts'

const BUILT_FIELDS = ['op_name', 'model', 'provider'] as const
/** A field by which built hours are grouped. */
type BuiltField = (typeof BUILT_FIELDS)[number]

export function isBuiltField(field: StatsGroupField): field is BuiltField {
  return (BUILT_FIELDS as readonly string[]).includes(field)
}

/** Builds the calls of hours of a project by model and by provider. Requests that have several calls are not considered. */
export function buildGroups(
  { isOwn, isSettled }: Pick<UsageScope, 'isOwn' | 'isSettled'>,
  ranges: readonly TimeRange[],
): string {
  const scope = { conditions: [], isDoubled: false, isMerged: true, isOwn, isSettled, ranges }
  const named = (field: 'model' | 'provider') =>
    `arrayMap(name -> ('${field}', name), ${namesOfUsage(field)})`
  return `
INSERT INTO hour_groups
${withUnsettled(scope)}
SELECT
  {project_id:String},
  named.1 AS field,
  ${isOwn ? 1 : 0},
  1 - grouping(op) AS is_op,
  op,
  hour,
  {version:UInt64},
  named.2 AS name,
  count() AS calls,
  ${END_SUMS}
FROM (
  SELECT
    ${hourOf('started_at_us')} AS hour,
    toString(op_name) AS op,
    latency_ms,
    is_error,
    arrayJoin(arrayConcat(${named('model')}, ${named('provider')})) AS named
  FROM (${callsOfUsage(scope, ['started_at_us', 'op_name'])}
  )
)
GROUP BY GROUPING SETS ((hour, field, name), (hour, op, field, name))
`
}

function sumsOf(table: 'hour_calls' | 'hour_groups'): string {
  return `
  sum(calls) AS calls,
  sum(errors) AS errors,
  sum(ended) AS ended,
  sum(latency_sum) AS latency_sum,
  minIf(latency_min, ${table}.ended > 0) AS latency_min,
  maxIf(latency_max, ${table}.ended > 0) AS latency_max,
  sum(ones) AS ones,
  sum(zeros) AS zeros`.trimStart()
}

/** Calls of built hours by name. */
export function groupHourCalls(field: BuiltField, isOwn: boolean, hasOps: boolean): string {
  if (field === 'op_name') {
    return `
SELECT
  op_name AS name,
  ${sumsOf('hour_calls')},
  min(first_us) AS first_us,
  max(last_us) AS last_us
${builtRows('hour_calls', hasOps, true)}
GROUP BY name
`
  }
  return `
SELECT
  name,
  ${sumsOf('hour_groups')}
${builtRows('hour_groups', hasOps)}
  AND is_own = ${isOwn ? 1 : 0}
  AND field = '${field}'
GROUP BY name
`
}

/** USAGE_NUMBERS of built hours by name and model as it was served. */
export function groupHourUsage(field: BuiltField, isOwn: boolean, hasOps: boolean): string {
  return `
SELECT
  ${NAMES[field]} AS name,
  ${SERVED.join(',\n  ')},
  arrayPushBack(sumForEach(arrayPopBack(numbers)), max(numbers[-1])) AS numbers
${builtRows('hour_usage', hasOps, hasOps || field === 'op_name')}
  AND is_own = ${isOwn ? 1 : 0}
GROUP BY name, ${SERVED.join(', ')}
`
}
