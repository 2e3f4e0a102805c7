/** Statistics by groups of calls on the wire: the calls with the most of a metric, and the rest. Additions to the spec. */

import { z } from 'zod'
import { Time } from '../primitives.ts'

/** What calls are grouped by. */
const STATS_GROUPS = [
  'end_user_id',
  'svc_user_id',
  'op_name',
  'model',
  'provider',
  'status',
  'error_type',
] as const
export type StatsGroupField = (typeof STATS_GROUPS)[number]

const GROUPS_DEFAULT = 10
/** Limit: groups of one response. */
const GROUPS_MAX = 1000
const SEARCH_CHARS_MAX = 256
const KEY_CHARS_MAX = 64

export const StatsGroupBy = z
  .strictObject({
    field: z
      .enum(STATS_GROUPS)
      .describe(
        'A call with usage of several models, or providers, is in the group of each; `error_type` is that of calls with an exception alone.',
      ),
    sort_by: z
      .strictObject({
        field: z
          .string()
          .max(KEY_CHARS_MAX)
          .default('count')
          .describe(
            'A key of the requested metrics such as `sum_total_cost`, `count`, `group`, or with times `first_started_at` or `last_started_at`.',
          ),
        direction: z.enum(['asc', 'desc']).default('desc'),
      })
      .prefault({})
      .describe('Order; groups without a value are last, equal ones are sorted by their names.'),
    limit: z
      .int()
      .min(1)
      .max(GROUPS_MAX)
      .default(GROUPS_DEFAULT)
      .describe('Maximum number of groups; all others are summed up in other_groups.'),
    search: z
      .string()
      .max(SEARCH_CHARS_MAX)
      .nullish()
      .describe('Only groups whose name contains this text, whatever its case.'),
    times: z
      .boolean()
      .default(false)
      .describe(
        'Whether groups have the start of their first and last call; by users and ops only.',
      ),
  })
  .meta({ id: 'CallStatsGroupBy', description: 'Groups of calls instead of buckets.' })
export type StatsGroupBy = z.infer<typeof StatsGroupBy>

/** Metric values and `count`. Not separate fields, so that the keys keep their order. */
const values = z
  .number()
  .nullable()
  .describe('A metric value, or `count`, the number of calls in the group.')

const time = Time.nullish().describe('Start of a call of the group, UTC; with `times` alone.')

const StatsGroup = z
  .object({
    group: z.string().nullable().describe('The name; null for calls without one.'),
    first_started_at: time,
    last_started_at: time,
  })
  .catchall(values)
  .meta({ id: 'CallStatsGroup', description: 'Calls of one group.' })

const OtherGroups = z
  .object({
    groups: z.int().describe('Number of groups.'),
    first_started_at: time,
    last_started_at: time,
  })
  .catchall(values)
  .meta({ id: 'CallStatsOtherGroups', description: 'Calls of all groups after the limit.' })

/** The fields that a response has when groups were requested. */
export const GROUPS_FIELDS = {
  groups: z
    .array(StatsGroup)
    .optional()
    .describe('With group_by: the first groups, sorted; an addition.'),
  other_groups: OtherGroups.nullish().describe(
    'With group_by: all other groups in one, null where there are none; an addition.',
  ),
}
