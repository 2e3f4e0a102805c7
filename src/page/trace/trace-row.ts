/** One call of a trace: its name in the tree, and when it ran as a bar. */
import { html } from 'htm/preact'
import { factsOf } from '../api/wire.ts'
import { formatMs, shortOp } from '../parts/format.ts'
import { type Node, type Span, spanOf } from './tree.ts'

const INDENT_PX = 14
/** Deeper calls are moved no further to the right. */
const INDENT_DEPTH_MAX = 20
/** Percent: a bar stays visible however short the call was. */
const BAR_MIN = 0.3

export interface TraceRowProps {
  readonly node: Node
  /** Of the trace. */
  readonly span: Span
  readonly isChosen: boolean
  readonly isFolded: boolean
  readonly onFold: () => void
  readonly onChoose: () => void
}

export function TraceRow({ node, span, isChosen, isFolded, onFold, onChoose }: TraceRowProps) {
  const { call, depth, children } = node
  const { status, latency_ms } = factsOf(call)
  const own = spanOf(call, span.endMs)
  const whole = Math.max(span.endMs - span.startMs, 1)
  const left = (100 * (own.startMs - span.startMs)) / whole
  const width = Math.max((100 * (own.endMs - own.startMs)) / whole, BAR_MIN)
  const indent = `${Math.min(depth, INDENT_DEPTH_MAX) * INDENT_PX}px`
  return html`<div class="trace-row" aria-current=${isChosen ? 'true' : undefined}>
    <span class="name" style=${{ paddingLeft: indent }}>
      ${
        children.length > 0
          ? html`<button
              class="fold"
              aria-expanded=${!isFolded}
              aria-label=${isFolded ? 'Unfold' : 'Fold'}
              onClick=${onFold}
            >${isFolded ? '▸' : '▾'}</button>`
          : html`<span class="fold"></span>`
      }
      <button class=${`link ${status}`} title=${call.op_name} onClick=${onChoose}>
        ${call.display_name ?? shortOp(call.op_name)}
      </button>
      ${isFolded && html`<span class="faint">${node.calls - 1} below${node.errors > 0 ? `, ${node.errors} failed` : ''}</span>`}
    </span>
    <span class="lane" onClick=${onChoose}>
      <span class=${`span ${status}`} style=${{ left: `${Math.min(left, 100 - BAR_MIN)}%`, width: `${width}%` }}></span>
    </span>
    <span class="number">${formatMs(latency_ms)}</span>
  </div>`
}
