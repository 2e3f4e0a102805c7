/** An agent span as the API shows it. Pure. */
import type { AgentSpanRow } from '../../schemas/agents/agent-spans.ts'
import type { SpanValueRef } from '../../schemas/agents/span-values.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import {
  type AgentSpan,
  type CustomAttributes,
  type CustomSource,
  customAttribute,
  readCustomAttributes,
  statusOf,
} from './agent-span.ts'
import type { SpanCosts } from './span-costs.ts'
import { readSpanMessages } from './span-messages.ts'

export interface SpanRowShape {
  readonly withDetails: boolean
  /** Attributes that are shown without details, too. */
  readonly attributes: readonly SpanValueRef[]
}

const DETAILS = [
  'tool_definitions',
  'tool_call_arguments',
  'tool_call_result',
  'compaction_summary',
] as const

const NO_MESSAGES = { input: [], output: [], system: [], reasoning: null, toolCalls: [] }

export function renderSpanRow(
  span: AgentSpan,
  costs: SpanCosts | null,
  { withDetails, attributes }: SpanRowShape,
): AgentSpanRow {
  const { call, columns } = span
  const messages = withDetails ? readSpanMessages(span) : NO_MESSAGES
  const left = withDetails ? {} : Object.fromEntries(DETAILS.map((name) => [name, null]))
  return {
    ...(columns as unknown as AgentSpanRow),
    ...left,
    project_id: call.project_id,
    started_at: renderTimestamp(call.started_at_us),
    ended_at: renderTimestampOrNull(call.ended_at_us),
    status_code: statusOf(span),
    finish_reasons: texts(span, 'gen_ai.response.finish_reasons'),
    request_stop_sequences: texts(span, 'gen_ai.request.stop_sequences'),
    input_cost_usd: costs?.input ?? null,
    output_cost_usd: costs?.output ?? null,
    total_cost_usd: costs?.total ?? null,
    system_instructions: [...messages.system],
    input_messages: [...messages.input],
    output_messages: [...messages.output],
    reasoning_content: messages.reasoning,
    content_refs: contentRefs(span),
    artifact_refs: texts(span, 'weave.artifact_refs'),
    object_refs: texts(span, 'weave.object_refs'),
    raw_span_dump: withDetails ? call.otel_dump_json : null,
    ...(withDetails ? readCustomAttributes(span) : pickAttributes(span, attributes)),
  } as AgentSpanRow
}

/** Refs of the files that the span's messages show. */
export function contentRefs(span: AgentSpan): string[] {
  return texts(span, 'weave.content_refs')
}

function texts({ attributes }: AgentSpan, key: string): string[] {
  const value = attributes[key]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function pickAttributes(span: AgentSpan, refs: readonly SpanValueRef[]): CustomAttributes {
  const picked: Record<string, Record<string, string | number | boolean>> = {
    custom_attrs_string: {},
    custom_attrs_int: {},
    custom_attrs_float: {},
    custom_attrs_bool: {},
  }
  for (const { source, key } of refs) {
    const value = customAttribute(span, source as CustomSource, key)
    if (value !== undefined) Object.assign(picked[source] ?? {}, { [key]: value })
  }
  return picked as unknown as CustomAttributes
}
