/** One call of a trace: its name in the tree, when it ran as a bar, and what it cost with all below it. */
import { html } from 'htm/preact'
import { factsOf, totalOf, type Usage } from '../api/wire.ts'
import { formatCost, formatMs, formatShort, shortOp } from '../parts/format.ts'
import { icon } from '../parts/icon.ts'
import { kindOfCall } from './call-kind.ts'
import { type Node, type Span, spanOf } from './tree.ts'

const INDENT_PX = 14
/** Largest indent in percent of the column: deeper calls are not indented further, so that names stay legible. */
const INDENT_MAX = '50%'
/** From here on the indent alone may not tell how deep a call is. */
const DEPTH_TOLD = 8
/** Smallest width of a bar in percent, so that short calls stay visible. */
const BAR_MIN = 0.3

interface TraceRowProps {
  readonly node: Node
  /** Of the trace. */
  readonly span: Span
  readonly usage: Usage | undefined
  /** The attribute `kind`. */
  readonly kind: string | undefined
  readonly isChosen: boolean
  readonly isFolded: boolean
  readonly onFold: () => void
  readonly onChoose: () => void
}

/** Id of the row of a call in the document. */
export function rowId(call: string): string {
  return `call-${encodeURIComponent(call)}`
}

export function TraceRow(props: TraceRowProps) {
  const { node, span, usage, kind, isChosen, isFolded, onFold, onChoose } = props
  const { call, depth, children } = node
  const { status, latency_ms } = factsOf(call)
  const { label, icon: name } = kindOfCall({
    name: shortOp(call.op_name),
    recorded: kind,
    usage: call.summary.usage,
    isLeaf: children.length === 0,
  })
  const indent = `min(${depth * INDENT_PX}px, ${INDENT_MAX})`
  const fold = (event: Event) => {
    event.stopPropagation()
    onFold()
  }
  return html`<div
    class="trace-row"
    id=${rowId(call.id)}
    role="treeitem"
    aria-level=${depth + 1}
    aria-selected=${isChosen}
    aria-expanded=${children.length > 0 ? !isFolded : undefined}
    onClick=${onChoose}
  >
    <span class="name" style=${{ paddingLeft: indent }}>
      <span class="fold" onClick=${children.length > 0 ? fold : undefined}>${children.length > 0 && icon(isFolded ? 'chevron-right' : 'chevron-down')}</span>
      ${depth >= DEPTH_TOLD && html`<span class="faint" title="calls above it" aria-hidden="true">${depth}</span>`}
      <span class="kind" title=${label} data-kind=${label}>${icon(name)}</span>
      <span class=${`op ${status}`} title=${call.op_name}>${call.display_name ?? shortOp(call.op_name)}</span>
      <${Below} node=${node} isFolded=${isFolded} />
    </span>
    <${Bar} node=${node} span=${span} />
    <${Spent} usage=${usage} />
    <span class="number" title=${formatMs(latency_ms)}>${formatMs(latency_ms)}</span>
  </div>`
}

/** The number of calls below a folded call, whether the call failed or is running, and the number of errors below it. */
function Below({ node, isFolded }: { readonly node: Node; readonly isFolded: boolean }) {
  const { status } = factsOf(node.call)
  const failed = node.errors - (status === 'error' ? 1 : 0)
  const words = [
    ...(status === 'error' || status === 'running' ? [status] : []),
    ...(failed > 0 ? [`${failed} failed below`] : []),
  ]
  return html`${isFolded && html`<span class="faint">${node.calls - 1} below</span>`}
    ${words.length > 0 && html`<span class=${`status ${failed > 0 ? 'error' : status}`}>${words.join(', ')}</span>`}`
}

function Bar({ node, span }: { readonly node: Node; readonly span: Span }) {
  const own = spanOf(node.call, span.endMs)
  const whole = Math.max(span.endMs - span.startMs, 1)
  const left = (100 * (own.startMs - span.startMs)) / whole
  const width = Math.max((100 * (own.endMs - own.startMs)) / whole, BAR_MIN)
  const style = { left: `${Math.min(left, 100 - BAR_MIN)}%`, width: `${width}%` }
  return html`<span class="lane"><span class=${`span ${factsOf(node.call).status}`} style=${style}></span></span>`
}

function Spent({ usage }: { readonly usage: Usage | undefined }) {
  const { tokens, cost } = totalOf(usage ?? {})
  return html`<span class="number faint spent" title="tokens and cost with all calls below, each token counted once">
    ${tokens > 0 && `${formatShort(tokens)} t`} ${formatCost(cost)}
  </span>`
}
