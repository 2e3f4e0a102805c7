/** Usage of calls with their descendants on the wire; additions to the spec. */
import { z } from 'zod'
import { CallsFilter } from '../calls/calls-filter.ts'
import { ClientId, ProjectId, switchField, Total } from '../primitives.ts'
import { Query } from '../query/query-expression.ts'
import { UsageCounting } from './usage-counting.ts'

/** Limit: calls that one request sums up. */
const USAGE_CALLS_MAX = 50_000
export const USAGE_CALLS_DEFAULT = 10_000
const ROOTS_MAX = 1000

/** Fields of a call that a query may use. */
export const USAGE_FIELDS = [
  'id',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'op_name',
  'display_name',
  'started_at',
  'ended_at',
  'exception',
  'svc_user_id',
  'svc_run_id',
  'end_user_id',
] as const

const common = {
  include_costs: switchField('Whether to fill the costs.'),
  usage_counting: UsageCounting.nullish().describe(
    'How usage is counted. Default `own`: a call has its own usage and that of its descendants, each token once. `reported` adds up reports.',
  ),
  limit: z
    .int()
    .min(1)
    .max(USAGE_CALLS_MAX)
    .nullish()
    .describe(
      `Maximum number of calls; a request that selects more is refused. Default ${USAGE_CALLS_DEFAULT}.`,
    ),
}

/** Selects calls of a project; each is summed up with its descendants among them. */
export const TraceUsageRequest = z
  .strictObject({
    project_id: ProjectId,
    filter: CallsFilter.nullish().describe('Which calls; usually those of a trace.'),
    query: Query.nullish().describe('A condition on the calls; it cannot use bodies.'),
    ...common,
  })
  .meta({ id: 'TraceUsageRequest', description: 'Calls whose usage is summed up.' })

/** Calls by id, each with all of its descendants. */
export const CallsUsageRequest = z
  .strictObject({
    project_id: ProjectId,
    call_ids: z
      .array(ClientId)
      .max(ROOTS_MAX, `must have at most ${ROOTS_MAX} ids`)
      .describe('Ids of the calls.'),
    ...common,
  })
  .meta({ id: 'CallsUsageRequest', description: 'Calls whose usage is summed up.' })

const count = (what: string) => Total.describe(what)
const money = (what: string) =>
  z.number().nullable().describe(`${what}, USD; null when not requested or without a price.`)

/** The usage of one model. */
export const ModelUsageTotals = z
  .object({
    requests: count('Requests to the model.'),
    prompt_tokens: count('Input tokens, as the clients count them.'),
    completion_tokens: count('Output tokens.'),
    total_tokens: count('Input and output tokens.'),
    cache_read_input_tokens: count('Input tokens read from a cache.'),
    cache_creation_input_tokens: count('Input tokens written to a cache.'),
    prompt_tokens_total_cost: money('Cost of the input that no cache had'),
    completion_tokens_total_cost: money('Cost of the output'),
    cache_read_input_tokens_total_cost: money('Cost of the input read from a cache'),
    cache_creation_input_tokens_total_cost: money('Cost of the input written to a cache'),
    reported_cost: z
      .number()
      .nullable()
      .describe(
        'What the clients report as the cost of the usage that has no price, USD; null when not requested or none is.',
      ),
  })
  .meta({ id: 'ModelUsageTotals', description: 'Usage of one model.' })
export type ModelUsageTotals = z.infer<typeof ModelUsageTotals>

export const UsageResponse = z.object({
  usage_counting: UsageCounting.describe('How usage was counted.'),
  call_usage: z
    .record(z.string(), z.record(z.string(), ModelUsageTotals))
    .describe('By id of the call, then by model.'),
  failed_descendants: z
    .record(z.string(), z.int())
    .describe('Number of failed calls below a call, by its id; a call without any has no entry.'),
  unfinished_call_ids: z
    .array(z.string())
    .describe('Ids of the calls among them that are still running, whose usage is unknown.'),
})
export type UsageResponse = z.infer<typeof UsageResponse>
