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
    signal_filters: z.null().optional().describe('Not supported. May be null.'),
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
    trace_id: z.string(),
    span_id: z.string(),
    parent_span_id: text,
    span_name: text,
    span_kind: text,
    started_at: time,
    ended_at: time,
    status_code: statusCode,
    status_message: text,
    error_type: text,
    operation_name: text,
    conversation_id: text,
    conversation_name: text,
    agent_name: text,
    agent_id: text,
    agent_description: text,
    agent_version: text,
    provider_name: text,
    request_model: text,
    response_model: text,
    response_id: text,
    output_type: text,
    finish_reasons: texts,
    input_tokens: number.describe('Input tokens, cached ones included.'),
    output_tokens: number,
    reasoning_tokens: number,
    cache_read_input_tokens: number,
    cache_creation_input_tokens: number,
    input_cost_usd: usd,
    output_cost_usd: usd,
    total_cost_usd: usd,
    request_temperature: number,
    request_max_tokens: number,
    request_top_p: number,
    request_frequency_penalty: number,
    request_presence_penalty: number,
    request_seed: number,
    request_choice_count: number,
    request_stop_sequences: texts,
    tool_name: text,
    tool_type: text,
    tool_call_id: text,
    tool_description: text,
    tool_definitions: text,
    tool_call_arguments: text,
    tool_call_result: text,
    server_address: text,
    server_port: number,
    compaction_summary: text,
    compaction_items_before: number,
    compaction_items_after: number,
    system_instructions: texts,
    input_messages: z.array(AgentMessage),
    output_messages: z.array(AgentMessage),
    reasoning_content: text,
    content_refs: texts,
    artifact_refs: texts,
    object_refs: texts,
    custom_attrs_string: z.record(z.string(), z.string()),
    custom_attrs_int: z.record(z.string(), z.number()),
    custom_attrs_float: z.record(z.string(), z.number()),
    custom_attrs_bool: z.record(z.string(), z.boolean()),
    raw_span_dump: text.describe('The span as it came, as JSON; only with details.'),
    svc_user_id: text,
    svc_run_id: text,
    svc_run_step: number,
    svc_run_step_end: number,
  })
  .meta({ id: 'AgentSpanRow', description: 'A span in the words of agents.' })
export type AgentSpanRow = z.infer<typeof AgentSpanRow>

const preview = z
  .object({
    role: z.enum(['user_message', 'assistant_message']),
    text: z.string(),
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
    agent_versions: texts,
    provider_names: texts,
    request_models: texts,
    conversation_names: texts,
    first_seen: time,
    last_seen: time,
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
