/** Statistics over spans of agents, and the attributes that they carry, on the wire. Additions to the spec. */

import { z } from 'zod'
import { NUMBER_BUCKETS } from '../limits.ts'
import { refused, Time, Timestamp } from '../primitives.ts'
import { CallStatsRequest } from '../stats/stats.ts'
import {
  Alias,
  CUSTOM_SOURCES,
  cell,
  count,
  groupFilters,
  groupRefs,
  insight_filters,
  limitOf,
  metrics,
  offset,
  project_id,
  query,
  SpanMeasure,
  SpanValueRef,
  started_after,
  started_before,
} from './span-values.ts'

export const GROUP_LIMIT = 50
const GROUP_LIMIT_MAX = 1000
export const ATTRIBUTES_LIMIT = 200
const ATTRIBUTES_LIMIT_MAX = 1000
/** Limit: ranges of a number. */
const BINS_MAX = 200

const { granularity, timezone } = CallStatsRequest.shape

export const SpanBuckets = z
  .strictObject({
    type: z
      .enum(['time', 'number'])
      .default('time')
      .describe(
        'Whether buckets are spans of time or ranges of a number. Other fields need number.',
      ),
    alias: Alias.nullish().describe('Name of the number, in columns[].metric. Default: value.'),
    bins: z
      .int()
      .min(1)
      .max(BINS_MAX)
      .nullish()
      .meta({
        description: `Number of ranges. Default ${NUMBER_BUCKETS}.`,
        default: NUMBER_BUCKETS,
      }),
    min: z.number().nullish().describe('Lower edge of the first range. Default: the least value.'),
    max: z
      .number()
      .nullish()
      .describe('Upper edge of the last range. Default: the greatest value.'),
    value: SpanValueRef.nullish().describe('The number of each span; or group_by and measure.'),
    group_by: groupRefs
      .nullish()
      .describe('Values that form groups; rows then count groups by their measure.'),
    measure: SpanMeasure.nullish().describe('The number of each group.'),
  })
  .meta({ id: 'SpanBuckets', description: 'Ranges of time or of a number.' })
export type SpanBuckets = z.infer<typeof SpanBuckets>

export const AgentSpanStatsRequest = z
  .strictObject({
    project_id,
    query,
    start: Timestamp.describe('Inclusive.'),
    end: Timestamp.nullish().describe('Exclusive; now when absent.'),
    granularity,
    timezone,
    group_by: groupRefs.nullish().describe('Values to group by, besides time.'),
    group_limit: limitOf(GROUP_LIMIT, GROUP_LIMIT_MAX, 1),
    metrics: metrics
      .default([])
      .describe('Measures; at least one, unless bucket_by has type number.'),
    bucket_by: SpanBuckets.nullish().describe('Buckets; by time when absent.'),
    group_filters: groupFilters
      .nullish()
      .describe(
        'Spans count whose groups meet all of these. Groups cover the window; group_by is by default conversation_id.',
      ),
    insight_filters,
    signal_filters: refused('there are no signals'),
  })
  .meta({ id: 'AgentSpanStatsRequest', description: 'A window, metrics and a condition.' })
export type AgentSpanStatsRequest = z.infer<typeof AgentSpanStatsRequest>

const StatsColumn = z.object({
  name: z.string().describe('Key in the rows.'),
  role: z.enum(['time', 'bucket', 'group', 'metric']).describe('Role of the column.'),
  value_type: z.enum(['datetime', 'number', 'boolean', 'string']).describe('Type of the values.'),
  metric: z
    .string()
    .nullable()
    .describe('Alias of the metric, or of the bucketed number; null for other columns.'),
  aggregation: z.string().nullable().describe('Its aggregation; null for other columns.'),
})
export type StatsColumn = z.infer<typeof StatsColumn>

export const AgentSpanStatsResponse = z
  .object({
    start: Time.describe('Start of the window, UTC.'),
    end: Time.describe('End of the window, UTC.'),
    granularity: z.int().nullable().describe('Seconds of a bucket, as used; null for numbers.'),
    timezone: z.string().describe('Time zone of the buckets.'),
    bucket_type: z.enum(['time', 'number']).describe('What the buckets are.'),
    columns: z.array(StatsColumn).describe('The columns of the rows, in order.'),
    rows: z
      .array(z.record(z.string(), cell))
      .describe(
        'By bucket, then group. A bucket of numbers has bucket_index, bucket_min (inclusive) and bucket_max (exclusive, except in the last).',
      ),
  })
  .meta({ id: 'AgentSpanStatsResponse', description: 'Time-bucketed statistics of spans.' })
export type AgentSpanStatsResponse = z.infer<typeof AgentSpanStatsResponse>

export const SpanAttributesRequest = z
  .strictObject({
    project_id,
    query,
    started_after,
    started_before,
    limit: limitOf(ATTRIBUTES_LIMIT, ATTRIBUTES_LIMIT_MAX, 1),
    offset,
  })
  .meta({ id: 'SpanAttributesRequest', description: 'Which spans are searched.' })

export const SpanAttributesResponse = z.object({
  attributes: z
    .array(
      z.object({
        key: z.string().describe('Name of the attribute.'),
        source: z.enum(CUSTOM_SOURCES).describe('Column to request it by.'),
        value_type: z.enum(['string', 'int', 'float', 'bool']).describe('Type of its values.'),
        span_count: count('Spans that carry it.'),
      }),
    )
    .describe('The page, most frequent first.'),
  has_more: z.boolean().describe('Whether more attributes follow the page.'),
  limit: z.int().describe('Maximum number of attributes of the page.'),
  offset: z.int().describe('Number of skipped attributes.'),
})
export type SpanAttributesResponse = z.infer<typeof SpanAttributesResponse>
