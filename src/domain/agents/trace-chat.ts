/** Renders the spans of a trace as a chat: prompts, agents, tool calls and their results. Pure. */
import type { ChatMessage, TraceChat } from '../../schemas/agents/agent-chat.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { MODEL_KINDS } from '../otel/dialects/step-kinds.ts'
import type { PriceTable } from '../prices/price-table.ts'
import {
  type AgentSpan,
  compareNs,
  durationUs,
  isInvocation,
  modelOf,
  statusOf,
  textColumn,
} from './agent-span.ts'
import { createTokenTotals } from './groups/span-totals.ts'
import { costsOf } from './span-costs.ts'
import { promptOf, readSpanMessages, responseOf } from './span-messages.ts'
import { contentRefs } from './span-row.ts'

/** Limit: levels of the tree; deeper spans are left out. */
const DEPTH_MAX = 200

interface TraceChatOptions {
  readonly prices: PriceTable
  /** Whether to include tool calls that responses request and no span runs. */
  readonly withModelToolCalls: boolean
}

interface Node {
  readonly span: AgentSpan
  readonly children: Node[]
}

/**
 * A chat without feedback; that comes with addFeedback.
 *
 * @param spans - of one trace, in any order; at least one
 *
 * Tokens are those of the model calls, so that an agent's span that repeats them counts for nothing; where no
 * model call reports any, those of the root.
 */
export function renderTraceChat(spans: readonly AgentSpan[], options: TraceChatOptions): TraceChat {
  const roots = growSpanTree(spans)
  const root = findRoot(roots)
  const { call } = root
  const counted = spans.filter(({ kind, usage }) => usage && kind && MODEL_KINDS.has(kind))
  const reporting = counted.length > 0 ? counted : [root]
  const totals = createTokenTotals()
  for (const span of reporting) totals.add(span.usage, costsOf(span, options.prices))
  return {
    trace_id: call.trace_id,
    root_span_name: textColumn(root, 'agent_name') ?? textColumn(root, 'span_name'),
    agent_name: textColumn(root, 'agent_name'),
    agent_version: textColumn(root, 'agent_version'),
    provider: textColumn(root, 'provider_name'),
    status_code: statusOf(root),
    started_at: renderTimestamp(call.started_at_us),
    ended_at: renderTimestampOrNull(call.ended_at_us),
    total_duration_ms: wholeMs(root),
    ...totals.tokens(),
    total_cost_usd: totals.costs().total,
    svc_user_id: call.svc_user_id,
    messages: [...renderPrompt(roots), ...renderSteps(roots, spans, options)],
    feedback: null,
  }
}

/** Children below their parents, in the order of their nanoseconds; a span whose parent is not there is a root. */
function growSpanTree(spans: readonly AgentSpan[]): Node[] {
  const nodes = new Map(spans.map((span) => [span.call.id, { span, children: [] as Node[] }]))
  const roots: Node[] = []
  const sorted = [...nodes.values()].sort(({ span: left }, { span: right }) =>
    compareNs(left.start_ns, right.start_ns),
  )
  for (const node of sorted) {
    const { id, parent_id } = node.span.call
    const parent = parent_id === null || parent_id === id ? undefined : nodes.get(parent_id)
    ;(parent?.children ?? roots).push(node)
  }
  // Spans that are each other's parents hang below no root.
  return roots.length > 0 ? roots : sorted.slice(0, 1)
}

/** The root; of several the one that ended last. */
function findRoot(roots: readonly Node[]): AgentSpan {
  const [first, ...others] = roots
  if (!first) throw new TypeError('a trace without spans')
  return others.reduce(
    (best, { span }) => ((span.call.ended_at_us ?? 0) > (best.call.ended_at_us ?? 0) ? span : best),
    first.span,
  )
}

/** The prompt of the first agent that has one, else of the first span that has one. */
function renderPrompt(roots: readonly Node[]): ChatMessage[] {
  const spans = [...walk(roots)]
  const ordered = [...spans.filter(isInvocation), ...spans]
  for (const span of ordered) {
    const text = promptOf(readSpanMessages(span))
    if (text === '') continue
    const user_message = { text, content_refs: contentRefs(span) }
    return [{ ...describe(span, 'user_message', null), user_message }]
  }
  return []
}

function* walk(nodes: readonly Node[], depth = 0): Generator<AgentSpan> {
  if (depth > DEPTH_MAX) return
  for (const { span, children } of nodes) {
    yield span
    yield* walk(children, depth + 1)
  }
}

/** The steps below the prompt, depth first. */
function renderSteps(
  roots: readonly Node[],
  spans: readonly AgentSpan[],
  { withModelToolCalls }: TraceChatOptions,
): ChatMessage[] {
  const steps: ChatMessage[] = []
  const ran = new Set(spans.map((span) => textColumn(span, 'tool_name')))
  const addStep = (
    span: AgentSpan,
    type: ChatMessage['type'],
    agent: string | null,
    part: object,
  ) => steps.push({ ...describe(span, type, agent), ...part } as ChatMessage)

  /** @returns whether a response was rendered: an agent's own repeats that of its last model call */
  function visit({ span, children }: Node, outer: string | null, depth: number): boolean {
    if (depth > DEPTH_MAX) return false
    const agent = textColumn(span, 'agent_name') ?? outer
    const isAgent = isInvocation(span)
    if (isAgent && textColumn(span, 'agent_name')) {
      addStep(span, 'agent_start', agent, { agent_start: agentStart(span) })
    }
    if (span.columns.operation_name === 'execute_tool') {
      addStep(span, 'tool_call', agent, { tool_call: toolCall(span) })
      return visitAll(children, agent, depth)
    }
    const isRenderedBelow = visitAll(children, agent, depth)
    let isRendered = isRenderedBelow
    const messages = readSpanMessages(span)
    if (!isAgent && withModelToolCalls) {
      for (const call of messages.toolCalls.filter(({ name }) => !ran.has(name))) {
        addStep(span, 'tool_call', agent, { tool_call: requestedToolCall(call) })
      }
    }
    const text = responseOf(messages)
    if (text !== '' && !(isRenderedBelow && repeats(span))) {
      addStep(span, 'assistant_message', agent, { assistant_message: response(span, text) })
      isRendered = true
    }
    if (textColumn(span, 'compaction_summary') || Number(span.columns.compaction_items_before)) {
      addStep(span, 'context_compacted', agent, { context_compacted: compaction(span) })
    }
    return isRendered
  }

  function visitAll(nodes: readonly Node[], agent: string | null, depth: number): boolean {
    return nodes.reduce((isRendered, node) => visit(node, agent, depth + 1) || isRendered, false)
  }

  visitAll(roots, null, 0)
  return steps
}

/** Whether a span shows the response of what it called, as spans of agents and chains do. */
function repeats({ kind }: AgentSpan): boolean {
  return kind === null || !MODEL_KINDS.has(kind)
}

function describe(
  span: AgentSpan,
  type: ChatMessage['type'],
  agent: string | null,
): Omit<ChatMessage, 'user_message'> {
  return {
    type,
    span_id: span.call.id,
    agent_name: agent ?? textColumn(span, 'agent_name'),
    agent_version: textColumn(span, 'agent_version'),
    started_at: renderTimestamp(span.call.started_at_us),
    status_code: statusOf(span),
    status_message: textColumn(span, 'status_message'),
    error_type: textColumn(span, 'error_type'),
    feedback: null,
  }
}

function agentStart(span: AgentSpan): ChatMessage['agent_start'] {
  const { system } = readSpanMessages(span)
  return {
    model: textColumn(span, 'request_model'),
    status: statusOf(span),
    system_instructions: system.length === 0 ? null : system.join('\n'),
    tool_definitions: textColumn(span, 'tool_definitions'),
  }
}

function toolCall(span: AgentSpan): ChatMessage['tool_call'] {
  return {
    tool_name: textColumn(span, 'tool_name') ?? textColumn(span, 'span_name'),
    tool_arguments: textColumn(span, 'tool_call_arguments'),
    tool_result: textColumn(span, 'tool_call_result'),
    duration_ms: wholeMs(span),
    status: statusOf(span),
    content_refs: contentRefs(span),
  }
}

function requestedToolCall(call: { name: string; arguments: string }): ChatMessage['tool_call'] {
  return {
    tool_name: call.name,
    tool_arguments: call.arguments,
    tool_result: null,
    duration_ms: null,
    status: null,
    content_refs: [],
  }
}

function response(span: AgentSpan, text: string): ChatMessage['assistant_message'] {
  const { usage } = span
  return {
    text,
    model: modelOf(span),
    reasoning_content: readSpanMessages(span).reasoning,
    reasoning_tokens: usage?.completion_tokens_details?.reasoning_tokens ?? null,
    input_tokens: usage?.prompt_tokens ?? null,
    output_tokens: usage?.completion_tokens ?? null,
    duration_ms: wholeMs(span),
    status: statusOf(span),
    content_refs: contentRefs(span),
  }
}

function compaction({ columns }: AgentSpan): ChatMessage['context_compacted'] {
  return {
    compaction_summary: columns.compaction_summary as string | null,
    compaction_items_before: columns.compaction_items_before as number | null,
    compaction_items_after: columns.compaction_items_after as number | null,
  }
}

function wholeMs(span: AgentSpan): number | null {
  const us = durationUs(span)
  return us === null ? null : Math.floor(us / 1000)
}
