/**
 * Metrics on the wire of Langfuse's API.
 *
 * Spec: none, an addition. Choice: the names that its SDKs send; unknown ones are dropped.
 */
import { z } from 'zod'
import { Timestamp } from '../primitives.ts'
import { Filters, jsonTextOf } from './observation.ts'

const NAME_MAX = 256
/** Limits: metrics of one query, and rows of its response. */
const METRICS_MAX = 50
const ROWS_MAX = 1000
const ROWS_DEFAULT = 100

const name = z.string().max(NAME_MAX)

const MetricsContent = z.object({
  view: name,
  dimensions: z
    .array(z.object({ field: name }))
    .max(METRICS_MAX)
    .default([]),
  metrics: z
    .array(z.object({ measure: name, aggregation: name }))
    .min(1)
    .max(METRICS_MAX),
  filters: Filters.nullish(),
  timeDimension: z.object({ granularity: name }).nullish(),
  fromTimestamp: Timestamp,
  toTimestamp: Timestamp,
  orderBy: z
    .array(z.object({ field: name, direction: z.enum(['asc', 'desc']) }))
    .max(METRICS_MAX)
    .nullish(),
  config: z
    .object({ row_limit: z.int().min(1).max(ROWS_MAX).default(ROWS_DEFAULT) })
    .default({ row_limit: ROWS_DEFAULT }),
})
export type MetricsContent = z.output<typeof MetricsContent>

export const MetricsQuery = z.object({ query: jsonTextOf(MetricsContent, 'a query') })
