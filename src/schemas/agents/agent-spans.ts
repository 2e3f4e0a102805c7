/** Spans of agents on the wire, as rows or as groups. Additions to the spec. */
import { z } from 'zod'
import { refused, switchField } from '../primitives.ts'
import {
  CUSTOM_SOURCES,
  cell,
  count,
  distributionSpecs,
  groupFilters,
  groupRefs,
  include_costs,
  insight_filters,
  limitOf,
  measures,
  offset,
  project_id,
  query,
  sort_by,
  started_after,
  started_before,
  statusCode,
  text,
  time,
  usd,
  valueRefs,
} from './span-values.ts'

export const SPANS_LIMIT = 100

export const AgentSpansQueryRequest = z
  .strictObject({
    project_id,
    query,
    group_by: groupRefs
      .nullish()
      .describe('Values to group by; the response then has groups instead of spans.'),
    measures: measures.nullish().describe('Measures of each group.'),
    custom_attr_columns: valueRefs
      .nullish()
      .describe('Attributes to show of each span, by the source of their type.'),
    include_details: switchField('Whether to fill messages, all attributes and the received span.'),
    include_costs,
    sort_by: sort_by.describe('Order. Default: descending by started_at, groups by span_count.'),
    limit: limitOf(SPANS_LIMIT),
    offset,
    started_after,
    started_before,
    group_filters: groupFilters
      .nullish()
      .describe(
        'Groups that meet all of these are listed; group_by of each is that of the request.',
      ),
    group_distributions: distributionSpecs
      .nullish()
      .describe('Attributes whose values are counted for each listed group.'),
    insight_filters,
    signal_filters: refused('there are no signals'),
  })
  .meta({ id: 'AgentSpansQueryRequest', description: 'Which spans, as rows or grouped.' })
export type AgentSpansQueryRequest = z.infer<typeof AgentSpansQueryRequest>

export const AgentMessage = z
  .object({
    role: z.string().describe('Role of the sender.'),
    content: z.string().describe('Text, or parts as JSON.'),
    finish_reason: z.string().describe('Why a response ended; empty when unknown.'),
  })
  .meta({ id: 'AgentMessage', description: 'A message to or from a model.' })
export type AgentMessage = z.infer<typeof AgentMessage>

const number = z.number().nullable()
const texts = z.array(z.string())

export const AgentSpanRow = z
  .object({
    project_id,
    trace_id: z.string().describe('The trace.'),
    span_id: z.string().describe('The span.'),
    parent_span_id: text.describe('The calling span; null for roots.'),
    span_name: text.describe('Name of the span.'),
    span_kind: text.describe('Span kind of OpenTelemetry.'),
    started_at: time.describe('When the span began, UTC.'),
    ended_at: time.describe('When the span ended, UTC; null while it runs.'),
    status_code: statusCode.describe('Status of the span.'),
    status_message: text.describe('Text of the error.'),
    error_type: text.describe('Kind of the error.'),
    operation_name: text.describe('Operation of the span.'),
    conversation_id: text.describe('The conversation.'),
    conversation_name: text.describe('Name of the conversation.'),
    agent_name: text.describe('Name of the agent; null where none is named.'),
    agent_id: text.describe('Id of the agent.'),
    agent_description: text.describe('Description of the agent.'),
    agent_version: text.describe('Version of the agent.'),
    provider_name: text.describe('Provider of the model.'),
    request_model: text.describe('Requested model.'),
    response_model: text.describe('Model of the response.'),
    response_id: text.describe('Id of the response.'),
    output_type: text.describe('Requested kind of output.'),
    finish_reasons: texts.describe('Why responses ended.'),
    input_tokens: number.describe('Input tokens, cached ones included.'),
    output_tokens: number.describe('Output tokens.'),
    reasoning_tokens: number.describe('Output tokens spent on reasoning.'),
    cache_read_input_tokens: number.describe('Input tokens read from a cache.'),
    cache_creation_input_tokens: number.describe('Input tokens written to a cache.'),
    input_cost_usd: usd,
    output_cost_usd: usd,
    total_cost_usd: usd,
    request_temperature: number.describe('Parameter of the request.'),
    request_max_tokens: number.describe('Parameter of the request.'),
    request_top_p: number.describe('Parameter of the request.'),
    request_frequency_penalty: number.describe('Parameter of the request.'),
    request_presence_penalty: number.describe('Parameter of the request.'),
    request_seed: number.describe('Parameter of the request.'),
    request_choice_count: number.describe('Requested number of responses.'),
    request_stop_sequences: texts.describe('Stop sequences.'),
    tool_name: text.describe('Name of the tool.'),
    tool_type: text.describe('Kind of the tool.'),
    tool_call_id: text.describe('Id of the call of the tool.'),
    tool_description: text.describe('Description of the tool.'),
    tool_definitions: text.describe('Tools that were offered, as JSON.'),
    tool_call_arguments: text.describe('Arguments, as JSON.'),
    tool_call_result: text.describe('Result of the tool.'),
    server_address: text.describe('Host of the server.'),
    server_port: number.describe('Port of the server.'),
    compaction_summary: text.describe('Summary of the compacted context.'),
    compaction_items_before: number.describe('Items before the compaction.'),
    compaction_items_after: number.describe('Items after the compaction.'),
    eval_run_id: text.describe('The evaluation run in which the span began, the id of its call.'),
    eval_predict_and_score_call_id: text.describe('The trial in which it began.'),
    eval_kind: text.describe('What was evaluated, such as `agent`.'),
    eval_row_digest: text.describe('The row of the dataset.'),
    eval_example_id: text.describe('The example.'),
    eval_trial_index: number.describe('Number of the trial of this example, from 0.'),
    eval_evaluation_name: text.describe('Name of the evaluation.'),
    system_instructions: texts.describe('Instructions of the agent.'),
    input_messages: z.array(AgentMessage).describe('Messages to the model; empty without details.'),
    output_messages: z
      .array(AgentMessage)
      .describe('Messages from the model; empty without details.'),
    reasoning_content: text.describe('Reasoning of the model.'),
    content_refs: texts.describe('Refs of contents in it.'),
    artifact_refs: texts.describe('Refs of artifacts.'),
    object_refs: texts.describe('Refs of objects.'),
    custom_attrs_string: z.record(z.string(), z.string()).describe('Attributes that are strings.'),
    custom_attrs_int: z.record(z.string(), z.number()).describe('Attributes that are integers.'),
    custom_attrs_float: z
      .record(z.string(), z.number())
      .describe('Attributes that are other numbers.'),
    custom_attrs_bool: z.record(z.string(), z.boolean()).describe('Attributes that are booleans.'),
    raw_span_dump: text.describe('The received span, as JSON; only with details.'),
    svc_user_id: text.describe('User whose key sent it.'),
    end_user_id: text.describe('End user for whom it was made.'),
    svc_run_id: text.describe('Training run.'),
    svc_run_step: number.describe('Step of the run at the start.'),
    svc_run_step_end: number.describe('Step of the run at the end.'),
  })
  .meta({ id: 'AgentSpanRow', description: 'A span with the fields of agents.' })
export type AgentSpanRow = z.infer<typeof AgentSpanRow>

const preview = z
  .object({
    role: z.enum(['user_message', 'assistant_message']).describe('Role of the sender.'),
    text: z.string().describe('The text.'),
  })
  .nullable()

export const SpanDistribution = z
  .object({
    alias: z.string().describe('Alias of the request.'),
    source: z.enum(CUSTOM_SOURCES).describe('Type of the attribute.'),
    key: z.string().describe('Name of the attribute.'),
    value_type: z.enum(['string', 'int', 'float', 'bool']).describe('Type of its values.'),
    total_count: count('Spans of the group.'),
    present_count: count('Those that carry the attribute.'),
    missing_count: count('Those that do not.'),
    other_count: count('Those that carry a value that is not among values.'),
    bins: z
      .array(
        z.object({
          index: z.int().describe('Position, from 0.'),
          min: z.number().describe('Lower edge, inclusive.'),
          max: z.number().describe('Upper edge, exclusive; inclusive in the last bin.'),
          count: count('Spans with a value in the bin.'),
        }),
      )
      .describe('Bins of equal width from the least to the greatest value; for numbers only.'),
    values: z
      .array(
        z.object({
          value: z.string().describe('The value; a boolean as true or false.'),
          count: count('Spans with the value.'),
        }),
      )
      .describe('The most frequent values; for strings and booleans only.'),
  })
  .meta({
    id: 'SpanDistribution',
    description: 'How often a group has the values of an attribute.',
  })
export type SpanDistribution = z.infer<typeof SpanDistribution>

export const AgentSpanGroup = z
  .object({
    group_keys: z.record(z.string(), cell).describe('The values that the group shares.'),
    metrics: z.record(z.string(), cell).describe('The measures, by alias.'),
    distributions: z.record(z.string(), SpanDistribution).describe('The distributions, by alias.'),
    span_count: count('Spans of the group.'),
    invocation_count: count('Those in which an agent was invoked.'),
    conversation_count: count('Conversations that they belong to.'),
    error_count: count('Those that failed.'),
    total_input_tokens: count('Input tokens that they report.'),
    total_output_tokens: count('Output tokens.'),
    total_reasoning_tokens: count('Output tokens spent on reasoning.'),
    total_cache_read_input_tokens: count('Input tokens read from a cache.'),
    total_cache_creation_input_tokens: count('Input tokens written to a cache.'),
    total_duration_ms: count('Milliseconds that they took in all.'),
    total_input_cost_usd: usd,
    total_output_cost_usd: usd,
    total_cost_usd: usd,
    agent_names: texts.describe('At most 100 of each of these lists.'),
    agent_versions: texts.describe('Versions of agents.'),
    provider_names: texts.describe('Providers of the models.'),
    request_models: texts.describe('Requested models.'),
    conversation_names: texts.describe('Names of the conversations.'),
    first_seen: time.describe('Start of the first span, UTC.'),
    last_seen: time.describe('Start of the last span, UTC.'),
    first_message: preview.describe('First prompt, when grouped by conversation_id.'),
    last_message: preview.describe('Last response, when grouped by conversation_id.'),
  })
  .meta({ id: 'AgentSpanGroup', description: 'Totals of the spans of a group.' })
export type AgentSpanGroup = z.infer<typeof AgentSpanGroup>

export const AgentSpansQueryResponse = z.object({
  spans: z.array(AgentSpanRow).describe('The spans of the page; empty when grouped.'),
  groups: z.array(AgentSpanGroup).describe('The groups of the page; empty unless grouped.'),
  total_count: count('Spans or groups in all.'),
})
