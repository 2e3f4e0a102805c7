/** Lists of calls on the wire. Additions to the spec: `/calls/stream_query` and `/calls/query_stats`. */
import { z } from 'zod'
import { ProjectId, switchField } from '../primitives.ts'
import { FieldPath, Query, SORT_TERMS_MAX, SortTerm } from '../query/query-expression.ts'
import { CallsFilter } from './calls-filter.ts'

/** Limit: names in `columns`. */
const COLUMNS_MAX = 200

const whole = z.int().min(0)

export const columns = z.array(FieldPath).max(COLUMNS_MAX).nullish()

/** Limit: columns whose refs are followed. */
const EXPAND_COLUMNS_MAX = 32

const expandColumns = z
  .array(FieldPath)
  .max(EXPAND_COLUMNS_MAX)
  .nullish()
  .describe(
    'Fields of attributes, inputs and output that hold refs of objects, such as `inputs.model`. Conditions and order ' +
      'may then use fields of the objects, such as `inputs.model.name`. A ref inside an object needs a column of its ' +
      'own, such as `inputs.model.config`.',
  )
const filter = CallsFilter.nullish().describe('Which calls; all when absent.')
const query = Query.nullish().describe('A further condition on the calls.')

/** Selects calls of a project, their order and their fields. */
export const CallsQueryRequest = z
  .strictObject({
    project_id: ProjectId,
    filter,
    query,
    limit: whole.nullish().describe('Maximum number of calls. Default: all.'),
    offset: whole.nullish().describe('Number of calls to skip. Default 0.'),
    sort_by: z
      .array(SortTerm)
      .max(SORT_TERMS_MAX)
      .nullish()
      .describe(
        'Order. Default: ascending by started_at and id. Fields of CallSchema, except deleted_at and total_storage_size_bytes, ' +
          'and of feedback, such as `feedback.[wandb.runnable.judge].payload.output.score`. summary.weave is as returned by a ' +
          'read, with `summary.weave.total_cost` (US dollars) and `summary.weave.costs` whether include_costs is set or not, and ' +
          'so with what `include_tree_usage` adds: `summary.weave.tree_total_tokens`, `tree_total_cost` and ' +
          '`tree_error_count`. Usage of trees of more than 500,000 calls together is refused.',
      ),
    columns: columns.describe(
      'Fields to return, by their first segment. Default: all, also when empty. id, project_id, trace_id, op_name ' +
        'and started_at are always returned. attributes and inputs that were not requested are {}; ended_at, exception ' +
        'and display_name are returned with summary.',
    ),
    preview_bodies: switchField(
      'Whether attributes, inputs and output are shortened as a table shows them: each to at most 8,192 characters of JSON, with shorter texts, the first members of objects, and the first and last elements of lists; values that columns name by their paths are left. Inputs, outputs and spans of more than 1 MiB are not read, and named in summary.weave.unread_bodies.',
    ),
    expand_columns: expandColumns,
    return_expanded_column_values: z
      .boolean()
      .nullish()
      .describe(
        'Whether refs in expand_columns are replaced by their values; an object then has its ref as `_ref`. Default true.',
      )
      .meta({ default: true }),
    include_costs: switchField('Whether to fill summary.weave.costs and summary.weave.total_cost.'),
    include_tree_usage: switchField(
      'Whether to fill summary.weave.tree_usage, tree_total_tokens and tree_total_cost: what the call used together with its descendants in its trace, each token once, and tree_error_count: how many of these failed. In traces of more than 100,000 calls at most tree_error_count is filled. A call that ended without an error above a failed one then has the status descendant_error, and wherever query or sort_by read the status.',
    ),
    include_feedback: switchField(
      'Whether to fill summary.weave.feedback: the newest 1,000 of each call, the oldest first.',
    ),
    include_storage_size: switchField('Whether to fill storage_size_bytes.'),
    include_total_storage_size: switchField('Whether to fill total_storage_size_bytes.'),
    include_usernames: switchField('Ignored: user names are always returned.'),
  })
  .meta({ id: 'CallsQueryRequest', description: 'Which calls, in which order, with which fields.' })
export type CallsQueryRequest = z.infer<typeof CallsQueryRequest>

export const CallsQueryStatsRequest = z
  .strictObject({
    project_id: ProjectId,
    filter,
    query,
    limit: whole
      .nullish()
      .describe('Count up to this number, the oldest calls first. Default: all.'),
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
    .describe('storage_size_bytes summed over the counted calls; null unless requested.'),
})
