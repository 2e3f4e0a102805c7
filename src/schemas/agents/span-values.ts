/** References to values of spans, for groups and measures, on the wire. Additions to the spec, in the shapes of the tracing SDKs. */

import { z } from 'zod'
import { ProjectId, switchField, Time, Timestamp, Total } from '../primitives.ts'
import { FieldPath, Query, SORT_TERMS_MAX } from '../query/query-expression.ts'

/** Limit: rows of one response. */
const AGENT_ROWS_MAX = 1000
/** Limit: rows that may be left out before the page. */
const AGENT_OFFSET_MAX = 100_000
/** Limit: refs, measures or metrics of one request. */
const SPECS_MAX = 20

/** Attributes that no field shows, by the type of their value. */
export const CUSTOM_SOURCES = [
  'custom_attrs_string',
  'custom_attrs_int',
  'custom_attrs_float',
  'custom_attrs_bool',
] as const
const SOURCES = ['field', 'column', 'derived', ...CUSTOM_SOURCES] as const

const AGENT_AGGREGATIONS = [
  'sum',
  'avg',
  'min',
  'max',
  'count',
  'count_distinct',
  'count_true',
  'count_false',
] as const
export type AgentAggregation = (typeof AGENT_AGGREGATIONS)[number]

export const Alias = z
  .string()
  .max(128)
  .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'must be a name of letters, digits and _')

export const SpanValueRef = z
  .strictObject({
    source: z
      .enum(SOURCES)
      .default('field')
      .describe(
        'field (or column): a field of spans; derived: a computed value, see key; otherwise an attribute of this type; custom_attrs_float finds whole numbers, too.',
      ),
    key: FieldPath.describe(
      'Name of the field or attribute. Derived values: duration_ms, total_tokens, is_error, is_invocation.',
    ),
  })
  .meta({ id: 'SpanValueRef', description: 'A value of a span.' })
export type SpanValueRef = z.infer<typeof SpanValueRef>

export const SpanGroupRef = SpanValueRef.extend({
  alias: Alias.nullish().describe('Key of the group in the response. Default: the key.'),
}).meta({ id: 'SpanGroupRef', description: 'A value that spans are grouped by.' })
export type SpanGroupRef = z.infer<typeof SpanGroupRef>

const valueType = z.enum(['datetime', 'number', 'boolean', 'string'])

export const SpanMeasure = z
  .strictObject({
    alias: Alias.describe('Key of the value in the response.'),
    aggregation: z.enum(AGENT_AGGREGATIONS).describe('Aggregation of the values.'),
    value: SpanValueRef.nullish().describe('The aggregated value; only count needs none.'),
    value_type: valueType.nullish().describe('Type of the value; checked when present.'),
    filter: Query.nullish().describe('Condition on the spans that count.'),
  })
  .meta({ id: 'SpanMeasure', description: 'A measure of the spans of a group.' })
export type SpanMeasure = z.infer<typeof SpanMeasure>

export const SpanMetric = z
  .strictObject({
    alias: Alias.describe('Suffix of the names of the columns, as in sum_ALIAS.'),
    value: SpanValueRef.describe('The measured value.'),
    value_type: valueType.describe('Type of the value.'),
    aggregations: z
      .array(z.enum(AGENT_AGGREGATIONS))
      .max(AGENT_AGGREGATIONS.length)
      .default([])
      .describe('Aggregations. Default without percentiles: sum for numbers, otherwise count.'),
    percentiles: z
      .array(z.number().min(0).max(100))
      .max(SPECS_MAX)
      .default([])
      .describe('Columns pNN_ALIAS; exact, interpolated linearly between the two nearest values.'),
  })
  .meta({ id: 'SpanMetric', description: 'A value of spans and its aggregations.' })
export type SpanMetric = z.infer<typeof SpanMetric>

/** Lists of refs and of measures. */
export const groupRefs = z.array(SpanGroupRef).max(SPECS_MAX)
export const valueRefs = z.array(SpanValueRef).max(SPECS_MAX)
export const measures = z.array(SpanMeasure).max(SPECS_MAX)
export const metrics = z.array(SpanMetric).max(SPECS_MAX)

const bound = z
  .union([z.number(), Timestamp], 'must be a number or an RFC 3339 date-time')
  .nullish()

export const SpanGroupFilter = z
  .strictObject({
    group_by: groupRefs.nullish().describe('Values that form the groups; see the list of filters.'),
    measure: SpanMeasure.describe('The limited measure of a group; its alias is not shown.'),
    min: bound.describe('Lowest value of the measure, inclusive; a date-time for times.'),
    max: bound.describe('Highest value of the measure, inclusive; a date-time for times.'),
  })
  .meta({ id: 'SpanGroupFilter', description: 'A range of a measure over groups of spans.' })
export type SpanGroupFilter = z.infer<typeof SpanGroupFilter>
export const groupFilters = z.array(SpanGroupFilter).max(SPECS_MAX)

/** Limit: bins of one distribution, and values that one shows. */
const DISTRIBUTION_BINS_MAX = 100
const DISTRIBUTION_VALUES_MAX = 100

export const SpanDistributionSpec = z
  .strictObject({
    alias: Alias.describe('Key of the distribution in the response.'),
    value: z
      .strictObject({
        source: z.enum(CUSTOM_SOURCES).describe('Type of the attribute.'),
        key: FieldPath.describe('Name of the attribute.'),
      })
      .describe('The custom attribute.'),
    bins: z
      .int()
      .min(1)
      .max(DISTRIBUTION_BINS_MAX)
      .default(12)
      .describe('Number of bins for an attribute of numbers.'),
    top_n: z
      .int()
      .min(1)
      .max(DISTRIBUTION_VALUES_MAX)
      .default(5)
      .describe('Maximum number of values for an attribute of strings or booleans.'),
  })
  .meta({ id: 'SpanDistributionSpec', description: 'A custom attribute whose values are counted.' })
export type SpanDistributionSpec = z.infer<typeof SpanDistributionSpec>
export const distributionSpecs = z.array(SpanDistributionSpec).max(SPECS_MAX)

/** A list of filters by what the vendor's models extract; it may be sent empty. */
export const insight_filters = z
  .array(z.unknown())
  .max(0, 'is not supported: insights')
  .nullish()
  .describe('Not supported: insights. Must be empty or absent.')

const AgentSortTerm = z
  .strictObject({
    field: FieldPath.describe('Field of a row.'),
    direction: z.enum(['asc', 'desc']).default('desc').describe('Direction.'),
  })
  .meta({ id: 'AgentSortTerm', description: 'One term of an order.' })

export const project_id = ProjectId
export const query = Query.nullish().describe('Condition that the spans meet.')
export const started_after = Timestamp.nullish().describe('Earliest start of a span, inclusive.')
export const started_before = Timestamp.nullish().describe('Latest start of a span, exclusive.')
export const include_costs = switchField('Whether to fill costs.')
export const sort_by = z.array(AgentSortTerm).max(SORT_TERMS_MAX).nullish()
export const offset = z
  .int()
  .min(0)
  .max(AGENT_OFFSET_MAX)
  .nullish()
  .describe('Number of rows to skip.')
export function limitOf(fallback: number, max: number = AGENT_ROWS_MAX, min = 0) {
  return z
    .int()
    .min(min)
    .max(max)
    .nullish()
    .meta({ description: `Maximum number of rows. Default ${fallback}.`, default: fallback })
}

/** Counts and money of a response. */
export const count = (what: string) => Total.describe(what)
export const usd = z
  .number()
  .nullable()
  .describe('USD; null when not requested or without a price.')
export const time = Time.nullable()
export const text = z.string().nullable()
export const statusCode = z.enum(['UNSET', 'OK', 'ERROR'])
/** A cell of a group or of a row of statistics. */
export const cell = z.union([z.string(), z.number(), z.boolean(), z.null()])
