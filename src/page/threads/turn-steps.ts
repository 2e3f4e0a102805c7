/** The calls below a turn, folded: tools and models with their times, and the bodies of those that are opened. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestLines } from '../api/client.ts'
import { type Call, factsOf } from '../api/wire.ts'
import { Exception } from '../parts/calls/exception.ts'
import { formatCount, formatMs, shortOp } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { icon } from '../parts/icon.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import { pathTo } from '../shell/page-route.ts'
import { kindOfCall } from '../trace/call-kind.ts'
import { buildTrees, listRows, type Node } from '../trace/tree.ts'

/** Limits: calls below the turns of a page, and those that one turn shows. */
const CALLS_MAX = 10_000
const SHOWN_MAX = 100

/** Returns what each turn called, at any depth, in the order of the starts. Bodies are not read. */
export async function readSteps(
  project_id: string,
  turns: readonly Call[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Node[]>> {
  if (turns.length === 0) return new Map()
  const filter = { trace_ids: [...new Set(turns.map(({ trace_id }) => trace_id))] }
  const columns = ['display_name', 'parent_id', 'ended_at', 'exception', 'summary']
  const body = { project_id, filter, columns, limit: CALLS_MAX }
  const calls = await Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal }))
  const ids = new Set(turns.map(({ id }) => id))
  const nodes = listRows(buildTrees(calls), new Set()).filter(({ call }) => ids.has(call.id))
  return new Map(nodes.map(({ call, children }) => [call.id, listRows(children, new Set())]))
}

interface TurnStepsProps {
  readonly project: string
  readonly steps: readonly Node[]
}

export function TurnSteps({ project, steps }: TurnStepsProps) {
  const [isOpen, setOpen] = useState(false)
  if (steps.length === 0) return null
  const labels = new Map<string, number>()
  for (const { label } of steps.map(kindOf)) labels.set(label, (labels.get(label) ?? 0) + 1)
  const words = [...labels].map(([label, count]) => `${formatCount(count)} × ${label}`).join(', ')
  const failed = steps.filter(({ call }) => factsOf(call).status === 'error').length
  const toggle = (event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)
  return html`<details class="turn-steps" open=${isOpen} onToggle=${toggle}>
    <summary>${words}${failed > 0 && html` <span class="status error">${failed} failed</span>`}</summary>
    ${
      isOpen &&
      html`<ol class="messages">${steps.slice(0, SHOWN_MAX).map((node) => html`<${Step} key=${node.call.id} project=${project} node=${node} />`)}</ol>
      ${steps.length > SHOWN_MAX && html`<p class="faint">The trace has ${formatCount(steps.length - SHOWN_MAX)} more.</p>`}`
    }
  </details>`
}

function kindOf({ call, children }: Node) {
  return kindOfCall({
    name: shortOp(call.op_name),
    recorded: undefined,
    usage: call.summary.usage,
    isLeaf: children.length === 0,
  })
}

interface StepProps {
  readonly project: string
  readonly node: Node
}

function Step({ project, node }: StepProps) {
  const [isOpen, setOpen] = useState(false)
  const { call } = node
  const { status, latency_ms } = factsOf(call)
  const toggle = (event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)
  return html`<li class="turn-step"><details open=${isOpen} onToggle=${toggle}>
    <summary>${icon(kindOf(node).icon)} <b>${call.display_name ?? shortOp(call.op_name)}</b> <span class="faint">${formatMs(latency_ms)}</span>${status === 'error' && html` <span class="status error">error</span>`}</summary>
    ${isOpen && html`<${Bodies} project=${project} call=${call} />`}
  </details></li>`
}

function Bodies({ project, call }: { readonly project: string; readonly call: Call }) {
  const body = {
    project_id: project,
    filter: { call_ids: [call.id] },
    columns: ['inputs', 'output'],
  }
  const read = useLoad(call.id, async (signal) => {
    const found = requestLines<Call>('/calls/stream_query', body, { signal })
    for await (const whole of found) return whole
    throw new Error('There is no such call; it may have been deleted.')
  })
  return html`<${Failure} words=${read.failure} />${read.isLoading && html`<${Loading} />`}
    ${read.value !== null && html`<${JsonTree} name="inputs" value=${read.value.inputs} /><${JsonTree} name="output" value=${read.value.output} />`}
    <${Exception} text=${call.exception} />
    <a href=${pathTo(project, 'calls', call.id)}>in the trace</a>`
}
