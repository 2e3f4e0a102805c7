/** Statistics over calls on the wire. Spec: §2.8, §2.9, §4.4. */

import { Temporal } from 'temporal-polyfill'
import { z } from 'zod'
import { CallsFilter } from '../calls/calls-filter.ts'
import { ProjectId, Time, Timestamp } from '../primitives.ts'
import { UsageCounting } from '../usage/usage-counting.ts'
import { GROUPS_FIELDS, StatsGroupBy } from './stats-groups.ts'

/** Spec: §2.8 (names not shown). Choice: the names of Weave. */
export const USAGE_METRICS = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation_1h_input_tokens',
  'reasoning_tokens',
  'input_audio_tokens',
  'output_audio_tokens',
  'input_image_tokens',
  'output_image_tokens',
  'input_cost',
  'output_cost',
  'total_cost',
] as const
export type UsageMetric = (typeof USAGE_METRICS)[number]

/** Spec: §2.8 (names not shown). Choice: the names of Weave. */
export const CALL_METRICS = ['latency_ms', 'call_count', 'error_count'] as const
export type CallMetric = (typeof CALL_METRICS)[number]

/** Spec: §2.8 aggregations (only `sum` is shown). Choice: the names of Weave. */
export const AGGREGATIONS = [
  'sum',
  'avg',
  'min',
  'max',
  'count',
  'count_true',
  'count_false',
] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

/** Limit: metrics of one list. */
export const METRIC_SPECS_MAX = 50
const PERCENTILES_MAX = 20
const AGGREGATIONS_MAX = 20
/** Limit: a bucket of a hundred years. */
export const GRANULARITY_S_MAX = 36_525 * 86_400

export const Aggregations = z.array(z.enum(AGGREGATIONS)).max(AGGREGATIONS_MAX)

export const Percentiles = z
  .array(z.number().min(0, 'must be from 0 to 100').max(100, 'must be from 0 to 100'))
  .max(PERCENTILES_MAX)

function specOf<const Names extends readonly string[]>(id: string, names: Names) {
  return z
    .strictObject({
      metric: z.enum(names).describe('The measured value of each row.'),
      aggregations: Aggregations.default(['sum']).describe(
        'Keys `<aggregation>_<metric>`. May be [] when percentiles are given.',
      ),
      percentiles: Percentiles.default([]).describe(
        'Keys `p<percentile>_<metric>`: exact, interpolated linearly between the two nearest values.',
      ),
    })
    .meta({ id, description: 'A metric and its aggregations in a bucket.' })
}

/** Tokens and costs; a row is one model of one call. Spec: §2.8. */
const UsageMetricSpec = specOf('UsageMetricSpec', USAGE_METRICS)

/** Latency and counts; a row is one call. Spec: §2.8. */
const CallMetricSpec = specOf('CallMetricSpec', CALL_METRICS)

/** Whether the runtime knows the zone, by its name or an alias; offsets are no names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/** Spec: §4.4. */
export const Granularity = z
  .int()
  .min(1)
  .max(GRANULARITY_S_MAX)
  .nullish()
  .describe(
    'Seconds of a bucket. Default: chosen for the window. Increased when there would be more than 10,000 buckets or 500,000 values.',
  )

/** Spec: §4.4. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone')
  .default('UTC')
  .meta({
    description:
      'IANA time zone, by name or alias, whose days and hours the buckets follow; not an offset such as +01:00.',
    pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
    examples: ['Europe/Berlin'],
  })

/** Spec: §4.4. */
export const CallStatsRequest = z
  .strictObject({
    project_id: ProjectId,
    start: Timestamp.describe('Inclusive; no offset means UTC.'),
    end: Timestamp.nullish().describe('Exclusive, not before start; now when absent.'),
    granularity: Granularity,
    usage_metrics: z
      .array(UsageMetricSpec)
      .max(METRIC_SPECS_MAX)
      .nullish()
      .describe('Metrics of tokens and costs, by bucket and model.'),
    call_metrics: z
      .array(CallMetricSpec)
      .max(METRIC_SPECS_MAX)
      .nullish()
      .describe('Metrics of latency and counts, by bucket.'),
    filter: CallsFilter.nullish().describe('Which calls are counted; all when absent.'),
    usage_counting: UsageCounting.nullish().describe(
      'How usage is counted; an addition. When absent `own`, with a filter that takes calls out of their traces (ops, roots, ids of calls or parents, refs) `reported`.',
    ),
    group_by: StatsGroupBy.nullish().describe(
      'Groups the calls of the whole window; the buckets are then empty. Percentiles, and of usage aggregations other than sum, avg and count, are refused. An addition.',
    ),
    timezone: TimeZone,
  })
  .meta({ id: 'CallStatsRequest', description: 'A window, metrics and a filter.' })
export type CallStatsRequest = z.infer<typeof CallStatsRequest>

/** Metric values and `count`. Not separate fields, so that the keys keep their order. */
const values = z
  .number()
  .nullable()
  .describe('A metric value, or `count`, the number of rows in the bucket.')

/** Spec: §2.9 usage bucket. */
const UsageBucket = z
  .object({
    timestamp: Time.describe('Start of the bucket, UTC.'),
    model: z.string().describe('Model, as named by the calls.'),
  })
  .catchall(values)
  .meta({ id: 'UsageBucket', description: 'Usage of one model in one bucket.' })

/** Spec: §2.9 call bucket. */
const CallBucket = z
  .object({ timestamp: Time.describe('Start of the bucket, UTC.') })
  .catchall(values)
  .meta({ id: 'CallBucket', description: 'Calls of one bucket.' })

/** Spec: §4.4. */
export const CallStatsResponse = z
  .object({
    start: Time.describe('Start of the window, UTC.'),
    end: Time.describe('End of the window, UTC.'),
    granularity: z.int().describe('Seconds of a bucket, as used.'),
    timezone: z.string().describe('Time zone of the buckets.'),
    usage_counting: UsageCounting.describe('How usage was counted; an addition.'),
    usage_buckets: z.array(UsageBucket).describe('By time, then model: each model in each bucket.'),
    call_buckets: z.array(CallBucket).describe('By time: each bucket of the window.'),
    ...GROUPS_FIELDS,
  })
  .meta({ id: 'CallStatsResponse', description: 'Time-bucketed statistics.' })
export type CallStatsResponse = z.infer<typeof CallStatsResponse>
