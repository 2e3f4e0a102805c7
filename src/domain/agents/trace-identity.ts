/**
 * The agent and the conversation that spans take from their trace. Pure.
 *
 * Spec: none, an addition. Choice: as the service behind weave 0.54 has it. A span that names no agent has the name,
 * version and id of the earliest span of its trace that does, never a mix of two agents; a span without a conversation
 * has that of the earliest span with one. Chats and lists of agents go by the tree of spans instead.
 */
import { type AgentSpan, textColumn } from './agent-span.ts'
import { type Column, columnOf } from './span-columns.ts'

const AGENT_COLUMNS = ['agent_name', 'agent_version', 'agent_id'] as const
const INHERITED: ReadonlySet<Column | null> = new Set([...AGENT_COLUMNS, 'conversation_id'])

/** Limit: traces whose identity is cached for later spans. */
const TRACES_CACHED_MAX = 10_000

interface TraceIdentity {
  /** The earliest spans that name an agent and a conversation. */
  agent: Named | null
  conversation: Named | null
}

/** The cached fields of a span that names an agent or a conversation. */
interface Named {
  readonly started_at_us: number
  readonly start_ns: bigint
  readonly id: string
  readonly columns: Partial<AgentSpan['columns']>
}

/**
 * Whether plain data of a query names a field that spans may take from their trace: as the key of a value, or as the
 * path of an expression or of an order.
 */
export function namesInherited(data: unknown): boolean {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return false
  const { key, path } = data as { readonly key?: unknown; readonly path?: unknown }
  if (typeof key === 'string' && isInherited(key)) return true
  if (Array.isArray(path) && isInherited(path.join('.'))) return true
  return Object.values(data).some(namesInherited)
}

function isInherited(name: string): boolean {
  return INHERITED.has(columnOf(name))
}

/** The identities of some traces of one project. */
export function createTraceIdentities() {
  const known = new Map<string, TraceIdentity>()
  return {
    /** The traces whose spans must be read for these spans, and are added next. */
    begin(spans: readonly AgentSpan[]): readonly string[] {
      const lacking = spans.filter(
        (span) => !textColumn(span, 'agent_name') || !textColumn(span, 'conversation_id'),
      )
      const wanted = new Set(lacking.map(({ call }) => call.trace_id))
      const unknown = [...wanted].filter((trace_id) => !known.has(trace_id))
      for (const [trace_id] of known) {
        if (known.size + unknown.length <= TRACES_CACHED_MAX) break
        if (!wanted.has(trace_id)) known.delete(trace_id)
      }
      for (const trace_id of unknown) known.set(trace_id, { agent: null, conversation: null })
      return unknown
    },
    /** Takes the spans of these traces, in any order. */
    add(span: AgentSpan): void {
      const identity = known.get(span.call.trace_id)
      if (identity === undefined) return
      if (textColumn(span, 'agent_name')) {
        identity.agent = earlier(identity.agent, toNamed(span, AGENT_COLUMNS))
      }
      if (textColumn(span, 'conversation_id')) {
        identity.conversation = earlier(identity.conversation, toNamed(span, ['conversation_id']))
      }
    },
    /** The span with what it takes from its trace. */
    inherit(span: AgentSpan): AgentSpan {
      const identity = known.get(span.call.trace_id)
      const agent = textColumn(span, 'agent_name') ? null : identity?.agent
      const conversation = textColumn(span, 'conversation_id') ? null : identity?.conversation
      if (!agent && !conversation) return span
      return { ...span, columns: { ...span.columns, ...agent?.columns, ...conversation?.columns } }
    },
  }
}

function toNamed({ call, start_ns, columns }: AgentSpan, names: readonly Column[]): Named {
  const { started_at_us, id } = call
  const own = Object.fromEntries(names.map((name) => [name, columns[name]]))
  return { started_at_us, start_ns, id, columns: own }
}

function earlier(known: Named | null, other: Named): Named {
  if (known === null || other.started_at_us < known.started_at_us) return other
  if (other.started_at_us > known.started_at_us) return known
  if (other.start_ns !== known.start_ns) return other.start_ns < known.start_ns ? other : known
  return other.id < known.id ? other : known
}
