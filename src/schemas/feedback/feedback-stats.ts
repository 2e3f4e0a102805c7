/** Statistics over feedback on the wire. Additions to the spec. */
import { z } from 'zod'
import { ProjectId, Time } from '../primitives.ts'
import {
  Aggregations,
  Granularity,
  METRIC_SPECS_MAX,
  Percentiles,
  TimeZone,
} from '../stats/stats.ts'
import { VALUE_TYPES } from './feedback.ts'
import { FeedbackWindowFields } from './feedback-window.ts'

const PATH_MAX = 2048

/** Spec: §2.8 (metrics of payloads not shown). Choice: the names of Weave. */
export const FeedbackMetricSpec = z
  .strictObject({
    json_path: z
      .string()
      .min(1, 'must not be empty')
      .max(PATH_MAX)
      .describe('Path of a value in payloads, as returned by `/feedback/payload_schema`.'),
    value_type: z
      .enum(VALUE_TYPES)
      .default('numeric')
      .describe(
        'Values of another type are not counted; for `categorical` all values other than null are.',
      ),
    aggregations: Aggregations.default([]).describe(
      'Keys `<aggregation>_<slug>`. Default, also when empty: `avg`, `min` and `max` for numbers, unless percentiles are given; `count_true` and `count_false` for booleans; `count` for others, which have no other.',
    ),
    percentiles: Percentiles.default([]).describe(
      'Keys `p<percentile>_<slug>`, for numbers only: exact, interpolated linearly between the two nearest values.',
    ),
  })
  .meta({ id: 'FeedbackMetricSpec', description: 'A value of payloads and its aggregations.' })
export type FeedbackMetricSpec = z.infer<typeof FeedbackMetricSpec>

export const FeedbackStatsRequest = z
  .strictObject({
    ...FeedbackWindowFields,
    granularity: Granularity,
    timezone: TimeZone,
    metrics: z
      .array(FeedbackMetricSpec)
      .max(METRIC_SPECS_MAX)
      .default([])
      .describe('Metrics; without any, the answer has no buckets and a granularity of 3600.'),
  })
  .meta({ id: 'FeedbackStatsRequest', description: 'A time window of feedback, and metrics.' })

const value = z.number().nullable()

export const FeedbackStatsResponse = z
  .object({
    start: Time.describe('Start of the window, UTC.'),
    end: Time.describe('End of the window, UTC.'),
    granularity: z.int().describe('Seconds of a bucket, as used.'),
    timezone: z.string().describe('Time zone of the buckets.'),
    buckets: z
      .array(
        z
          .object({ timestamp: Time.describe('Start of the bucket, UTC.') })
          .catchall(
            value.describe('A metric value, or `count`, the number of feedbacks in the bucket.'),
          ),
      )
      .describe('By time: each bucket of the window.'),
    window_stats: z
      .record(
        z.string(),
        z.record(z.string(), value.describe('The value over the whole window; null without one.')),
      )
      .describe('By slug, then by aggregation or `p<percentile>`: values over the whole window.'),
  })
  .meta({ id: 'FeedbackStatsResponse', description: 'Time-bucketed statistics of payloads.' })
export type FeedbackStatsResponse = z.infer<typeof FeedbackStatsResponse>

/** Limit: entries of a list that filters. */
const FILTER_MAX = 1000
const FILTER_TEXT_MAX = 2048
/** Limit: about the year 5138, as milliseconds. */
const MS_MAX = 100_000_000_000_000
/** Limit: seconds of a bucket of a hundred years. */
const BUCKET_S_MAX = 36_525 * 86_400

/** Fields by which feedback is grouped. Spec: §2.2 (not shown). Choice: the names of Weave. */
const FEEDBACK_GROUPS = [
  'scorer_id',
  'span_agent_name',
  'span_agent_version',
  'span_status_code',
] as const
export type FeedbackGroup = (typeof FEEDBACK_GROUPS)[number]

const SPAN_TYPES = ['agent_turn', 'agent_conversation'] as const

function listOf<T extends z.ZodType>(entry: T) {
  return z.array(entry).max(FILTER_MAX).default([])
}

const texts = listOf(z.string().max(FILTER_TEXT_MAX))
const milliseconds = z.int().min(0).max(MS_MAX)

export const FeedbackAggregateRequest = z
  .strictObject({
    project_id: ProjectId,
    after_ms: milliseconds.describe('Inclusive start on created_at, milliseconds since the epoch.'),
    before_ms: milliseconds.describe('Exclusive end, not before the start.'),
    time_bucket_seconds: z
      .int()
      .min(1)
      .max(BUCKET_S_MAX)
      .nullish()
      .describe('Seconds of a bucket, counted from the epoch; the whole window when absent.'),
    group_by: z
      .array(z.enum(FEEDBACK_GROUPS))
      .max(FEEDBACK_GROUPS.length)
      .default([])
      .describe('Fields to group each bucket by; `scorer_id` is the name in runnable_ref.'),
    feedback_types: texts.describe('Only types with one of these prefixes.'),
    scorer_ids: texts.describe('Only these names in runnable_ref; `<prefix>*` matches by prefix.'),
    monitor_ids: texts.describe('Only these names in trigger_ref; `<prefix>*` matches by prefix.'),
    span_agent_names: texts.describe('Only feedback on these agents.'),
    span_types: listOf(z.enum(SPAN_TYPES)).describe('Only feedback on turns or conversations.'),
    tags: texts.describe('Only feedback with one of these tags.'),
    rating_min: z
      .number()
      .nullish()
      .describe('Only feedback whose rating `_rating_` is at least this.'),
    rating_max: z
      .number()
      .nullish()
      .describe('Only feedback whose rating `_rating_` is at most this.'),
  })
  .meta({ id: 'FeedbackAggregateRequest', description: 'Which scores to count, and how.' })
export type FeedbackAggregateRequest = z.infer<typeof FeedbackAggregateRequest>

const count = z.int()

export const FeedbackAggregateResponse = z
  .object({
    after_ms: z.int().describe('Start of the window.'),
    before_ms: z.int().describe('End of the window.'),
    time_bucket_seconds: z.int().nullable().describe('Seconds of a bucket; null without buckets.'),
    buckets: z
      .array(
        z.object({
          time_bucket_start_ms: z
            .int()
            .nullable()
            .describe('Start of the bucket, milliseconds since the epoch; null without buckets.'),
          group: z
            .record(z.string(), z.string())
            .describe('Values of group_by; an empty string when feedback has none.'),
          total_count: count.describe('Number of feedbacks.'),
          scored_count: count.describe('Number of feedbacks with a tag or a rating.'),
          tag_counts: z.record(z.string(), count).describe('Number of feedbacks with each tag.'),
          rating_counts: z
            .record(z.string(), count)
            .describe('Number of feedbacks with each rating.'),
          rating_sums: z.record(z.string(), z.number()).describe('Sums of each rating.'),
        }),
      )
      .describe('By time, then by group; those without feedback are left out.'),
  })
  .meta({ id: 'FeedbackAggregateResponse', description: 'Counts of scores.' })
export type FeedbackAggregateResponse = z.infer<typeof FeedbackAggregateResponse>
