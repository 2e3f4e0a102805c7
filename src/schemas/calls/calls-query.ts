/** Lists of calls on the wire. Additions to the spec: `/calls/stream_query` and `/calls/query_stats`. */
import { z } from 'zod'
import { ProjectId } from '../primitives.ts'
import { FieldPath, Query, SORT_TERMS_MAX, SortTerm } from '../query/query-expression.ts'
import { CallsFilter } from './calls-filter.ts'

/** Limit: names in `columns`. */
const COLUMNS_MAX = 200

const switchField = (what: string) =>
  z
    .boolean()
    .nullish()
    .meta({ description: `${what} Default false.`, default: false })
const whole = z.int().min(0, 'must be at least 0')

export const columns = z
  .array(FieldPath)
  .max(COLUMNS_MAX, `must have at most ${COLUMNS_MAX} entries`)
  .nullish()

/** Limit: columns whose refs are followed. */
const EXPAND_COLUMNS_MAX = 32

const expandColumns = z
  .array(FieldPath)
  .max(EXPAND_COLUMNS_MAX, `must have at most ${EXPAND_COLUMNS_MAX} entries`)
  .nullish()
  .describe(
    'Fields of attributes, inputs and output, as `inputs.model`, that hold refs of objects. Conditions and order ' +
      'see what lies behind them, as `inputs.model.name`; a ref inside is a column of its own, as `inputs.model.config`.',
  )
const filter = CallsFilter.nullish().describe('Which calls; all when absent.')
const query = Query.nullish().describe('A condition that the calls must meet too.')

/** Which calls of a project, in which order, with what of each. */
export const CallsQueryRequest = z
  .strictObject({
    project_id: ProjectId,
    filter,
    query,
    limit: whole.nullish().describe('Calls to give at most; all when absent.'),
    offset: whole.nullish().describe('Calls to skip. Default 0.'),
    sort_by: z
      .array(SortTerm)
      .max(SORT_TERMS_MAX, `must have at most ${SORT_TERMS_MAX} entries`)
      .nullish()
      .describe(
        'Order, by default started_at and id ascending. Fields of CallSchema, but for deleted_at and total_storage_size_bytes, ' +
          'and of feedback, as `feedback.[wandb.runnable.judge].payload.output.score`. summary.weave is as a read shows it, ' +
          'with `summary.weave.total_cost` (US dollars) and `summary.weave.costs` whether include_costs is set or not.',
      ),
    columns: columns.describe(
      'Fields to give, by their first segment; id, project_id, trace_id, op_name, started_at always. ' +
        'attributes and inputs that were not asked for are {}; ended_at, exception and display_name come with summary. ' +
        'All fields when absent or empty.',
    ),
    expand_columns: expandColumns,
    return_expanded_column_values: z
      .boolean()
      .nullish()
      .describe(
        'Whether values are given for the refs of expand_columns; an object has its ref as `_ref`. Default true.',
      )
      .meta({ default: true }),
    include_costs: switchField('Whether to fill summary.weave.costs and summary.weave.total_cost.'),
    include_feedback: switchField(
      'Whether to fill summary.weave.feedback: the newest 1,000 of each call, the oldest first.',
    ),
    include_storage_size: switchField('Whether to fill storage_size_bytes.'),
    include_total_storage_size: switchField('Whether to fill total_storage_size_bytes.'),
    include_usernames: switchField('Accepted: user names are always given.'),
  })
  .meta({ id: 'CallsQueryRequest', description: 'Which calls, in which order, with what of each.' })
export type CallsQueryRequest = z.infer<typeof CallsQueryRequest>

export const CallsQueryStatsRequest = z
  .strictObject({
    project_id: ProjectId,
    filter,
    query,
    limit: whole.nullish().describe('Count up to this number; all when absent.'),
    expand_columns: expandColumns,
    include_total_storage_size: switchField('Whether to fill total_storage_size_bytes.'),
  })
  .meta({ id: 'CallsQueryStatsRequest', description: 'Which calls to count.' })
export type CallsQueryStatsRequest = z.infer<typeof CallsQueryStatsRequest>

export const CallsQueryStatsResponse = z.object({
  count: z.int().describe('Calls that match, at most the limit.'),
  has_more: z.boolean().describe('Whether more calls match than the limit.'),
  total_storage_size_bytes: z
    .int()
    .nullable()
    .describe('storage_size_bytes summed over the counted calls; null unless asked for.'),
})
