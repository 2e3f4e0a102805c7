/** Statistics over spans of agents, and the attributes that they carry, on the wire. Additions to the spec. */

import { z } from 'zod'
import { refused, Time, Timestamp } from '../primitives.ts'
import { CallStatsRequest } from '../stats/stats.ts'
import {
  cell,
  count,
  groupRefs,
  limitOf,
  metrics,
  offset,
  project_id,
  query,
  started_after,
  started_before,
  unsupportedList,
} from './span-values.ts'

export const GROUP_LIMIT = 50
const GROUP_LIMIT_MAX = 1000
export const ATTRIBUTES_LIMIT = 100
const ATTRIBUTES_LIMIT_MAX = 1000

const { granularity, timezone } = CallStatsRequest.shape

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
    metrics: metrics.min(1, 'must have at least one entry').describe('Measures.'),
    bucket_by: z
      .strictObject({ type: z.literal('time').default('time').describe('Only time.') })
      .nullish()
      .describe('Only by time.'),
    group_filters: unsupportedList('filters over groups'),
    insight_filters: unsupportedList('insights'),
    signal_filters: refused('there are no signals'),
  })
  .meta({ id: 'AgentSpanStatsRequest', description: 'A window, metrics and a condition.' })
export type AgentSpanStatsRequest = z.infer<typeof AgentSpanStatsRequest>

const StatsColumn = z.object({
  name: z.string().describe('Key in the rows.'),
  role: z.enum(['time', 'bucket', 'group', 'metric']).describe('Role of the column.'),
  value_type: z.enum(['datetime', 'number', 'boolean', 'string']).describe('Type of the values.'),
  metric: z.string().nullable().describe('Alias of the metric; null for other columns.'),
  aggregation: z.string().nullable().describe('Its aggregation; null for other columns.'),
})
export type StatsColumn = z.infer<typeof StatsColumn>

export const AgentSpanStatsResponse = z
  .object({
    start: Time.describe('Start of the window, UTC.'),
    end: Time.describe('End of the window, UTC.'),
    granularity: z.int().describe('Seconds of a bucket, as used.'),
    timezone: z.string().describe('Time zone of the buckets.'),
    bucket_type: z.literal('time').describe('Always time.'),
    columns: z.array(StatsColumn).describe('The columns of the rows, in order.'),
    rows: z.array(z.record(z.string(), cell)).describe('By time, then group.'),
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
        source: z
          .enum([
            'custom_attrs_string',
            'custom_attrs_int',
            'custom_attrs_float',
            'custom_attrs_bool',
          ])
          .describe('Column to request it by.'),
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
