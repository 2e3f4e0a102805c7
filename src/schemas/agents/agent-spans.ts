/** Spans of agents on the wire, as rows or as groups. Additions to the spec. */
import { z } from 'zod'
import {
  cell,
  count,
  groupRefs,
  include_costs,
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
  unsupportedList,
  unsupportedNull,
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
      .describe('Values to group by; groups are then answered, not spans.'),
    measures: measures.nullish().describe('Numbers over each group.'),
    custom_attr_columns: valueRefs
      .nullish()
      .describe('Attributes to show of each span, by the source of their type.'),
    include_details: z.boolean().nullish().meta({
      description:
        'Whether to fill messages, all attributes and the span as it came. Default false.',
      default: false,
    }),
    include_costs,
    sort_by: sort_by.describe(
      'Order; by default started_at, groups span_count, the highest first.',
    ),
    limit: limitOf(SPANS_LIMIT),
    offset,
    started_after,
    started_before,
    group_filters: unsupportedList('filters over groups'),
    group_distributions: unsupportedList('distributions'),
    insight_filters: unsupportedList('insights'),
    signal_filters: unsupportedNull,
  })
  .meta({ id: 'AgentSpansQueryRequest', description: 'Which spans, as rows or grouped.' })
export type AgentSpansQueryRequest = z.infer<typeof AgentSpansQueryRequest>

export const AgentMessage = z
  .object({
    role: z.string().describe('Who says it.'),
    content: z.string().describe('Text, or parts as JSON.'),
    finish_reason: z.string().describe('Why an answer ended; empty for none.'),
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
    span_kind: text.describe('Kind as of OpenTelemetry.'),
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
    agent_description: text.describe('What the agent is for.'),
    agent_version: text.describe('Version of the agent.'),
    provider_name: text.describe('Who serves the model.'),
    request_model: text.describe('Model that was asked for.'),
    response_model: text.describe('Model that answered.'),
    response_id: text.describe('Id of the answer.'),
    output_type: text.describe('Kind of output that was asked for.'),
    finish_reasons: texts.describe('Why answers ended.'),
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
    request_choice_count: number.describe('Answers that were asked for.'),
    request_stop_sequences: texts.describe('Texts that end an answer.'),
    tool_name: text.describe('Name of the tool.'),
    tool_type: text.describe('Kind of the tool.'),
    tool_call_id: text.describe('Id of the call of the tool.'),
    tool_description: text.describe('What the tool is for.'),
    tool_definitions: text.describe('Tools that were offered, as JSON.'),
    tool_call_arguments: text.describe('Arguments, as JSON.'),
    tool_call_result: text.describe('What the tool gave back.'),
    server_address: text.describe('Host that was asked.'),
    server_port: number.describe('Port that was asked.'),
    compaction_summary: text.describe('What was kept of the context.'),
    compaction_items_before: number.describe('Items before.'),
    compaction_items_after: number.describe('Items after.'),
    system_instructions: texts.describe('Instructions of the agent.'),
    input_messages: z
      .array(AgentMessage)
      .describe('What the model was sent; empty without details.'),
    output_messages: z.array(AgentMessage).describe('What it answered; empty without details.'),
    reasoning_content: text.describe('What the model thought.'),
    content_refs: texts.describe('Refs of contents that it holds.'),
    artifact_refs: texts.describe('Refs of artifacts.'),
    object_refs: texts.describe('Refs of objects.'),
    custom_attrs_string: z.record(z.string(), z.string()).describe('Attributes that are texts.'),
    custom_attrs_int: z
      .record(z.string(), z.number())
      .describe('Attributes that are whole numbers.'),
    custom_attrs_float: z
      .record(z.string(), z.number())
      .describe('Attributes that are other numbers.'),
    custom_attrs_bool: z
      .record(z.string(), z.boolean())
      .describe('Attributes that are true or false.'),
    raw_span_dump: text.describe('The span as it came, as JSON; only with details.'),
    svc_user_id: text.describe('User whose key sent it.'),
    svc_run_id: text.describe('Training run.'),
    svc_run_step: number.describe('Step of the run at the start.'),
    svc_run_step_end: number.describe('Step of the run at the end.'),
  })
  .meta({ id: 'AgentSpanRow', description: 'A span in the words of agents.' })
export type AgentSpanRow = z.infer<typeof AgentSpanRow>

const preview = z
  .object({
    role: z.enum(['user_message', 'assistant_message']).describe('Who speaks.'),
    text: z.string().describe('The text.'),
  })
  .nullable()

export const AgentSpanGroup = z
  .object({
    group_keys: z.record(z.string(), cell).describe('The values that the group shares.'),
    metrics: z.record(z.string(), cell).describe('The measures, by alias.'),
    distributions: z.record(z.string(), z.unknown()).describe('Always empty.'),
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
    provider_names: texts.describe('Who serves the models.'),
    request_models: texts.describe('Models that were asked for.'),
    conversation_names: texts.describe('Names of the conversations.'),
    first_seen: time.describe('Start of the first span, UTC.'),
    last_seen: time.describe('Start of the last span, UTC.'),
    first_message: preview.describe('What was asked first, when grouped by conversation_id.'),
    last_message: preview.describe('What was answered last, when grouped by conversation_id.'),
  })
  .meta({ id: 'AgentSpanGroup', description: 'What the spans of a group come to.' })
export type AgentSpanGroup = z.infer<typeof AgentSpanGroup>

export const AgentSpansQueryResponse = z.object({
  spans: z.array(AgentSpanRow).describe('The page, unless spans are grouped.'),
  groups: z.array(AgentSpanGroup).describe('The page, when spans are grouped.'),
  total_count: count('Spans or groups in all.'),
})
