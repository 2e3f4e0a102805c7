/** The tree of a trace with folding, search and keyboard navigation. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type Call, totalOf, type Usage } from '../api/wire.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCalls, formatCost, formatCount, formatMs } from '../parts/format.ts'
import { icon } from '../parts/icon.ts'
import { WindowList } from '../parts/tables/window-list.ts'
import { TraceFind } from './trace-find.ts'
import { rowId, TraceRow } from './trace-row.ts'
import {
  buildTrees,
  firstErrorOf,
  listRows,
  type Node,
  parentsOf,
  slowestOf,
  spanOfAll,
} from './tree.ts'

const ROW_PX = 28

interface TraceTreeProps {
  readonly project: string
  readonly calls: readonly Call[]
  /** Whether these are all calls of the trace. */
  readonly isWhole: boolean
  /** By call, including all calls below; null until known. */
  readonly usage: ReadonlyMap<string, Usage> | null
  /** The attribute `kind` of calls. */
  readonly kinds: ReadonlyMap<string, string>
  readonly chosen: string
  readonly onChoose: (id: string) => void
  readonly onReload: () => void
}

export function TraceTree(props: TraceTreeProps) {
  const { project, calls, isWhole, usage, kinds, chosen, onChoose, onReload } = props
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const trees = useMemo(() => buildTrees(calls), [calls])
  const rows = useMemo(() => listRows(trees, folded), [trees, folded])
  const order = useMemo(() => listRows(trees, new Set()).map(({ call }) => call), [trees])
  const span = useMemo(() => spanOfAll(calls), [calls])
  const at = useMemo(() => rows.findIndex(({ call }) => call.id === chosen), [rows, chosen])
  // Folding something else must not scroll back to the chosen call.
  const shown = useMemo(() => at, [chosen, trees])
  const fold = (id: string, isFolded = !folded.has(id)) => {
    const next = new Set(folded)
    if (isFolded) next.add(id)
    else next.delete(id)
    setFolded(next)
  }
  const show = (id: string) => {
    const above = parentsOf(calls, id)
    if (above.some((parent) => folded.has(parent)))
      setFolded(new Set([...folded].filter((parent) => !above.includes(parent))))
    onChoose(id)
  }
  const keys = keysOf({ rows, at, folded, fold, onChoose })
  return html`<section class="tree" aria-label="Calls of the trace">
    <${Totals} calls=${calls} isWhole=${isWhole} trees=${trees} usage=${usage} ms=${span.endMs - span.startMs}>
      <span class="push"></span>
      <button class="square" aria-label="Unfold all" title="Unfold all" onClick=${() => setFolded(new Set())}>${icon('chevrons-up-down')}</button>
      <button class="square" aria-label="Fold all" title="Fold all" onClick=${() => setFolded(parentsBelow(trees))}>${icon('chevrons-down-up')}</button>
      <button class="square" aria-label="Refresh" title="Refresh" onClick=${onReload}>${icon('refresh-cw')}</button>
    <//>
    <div class="bar">
      <${TraceFind} project=${project} calls=${order} onFound=${show} />
      <span class="push"></span>
      <${Jumps} trees=${trees} endMs=${span.endMs} onJump=${show} />
    </div>
    <${WindowList}
      count=${rows.length}
      rowHeight=${ROW_PX}
      label="Calls of the trace"
      role="tree"
      shown=${shown}
      active=${at < 0 ? undefined : rowId(chosen)}
      onKeyDown=${keys}
      renderRow=${(index: number) => {
        const node = rows[index] as Node
        const { id } = node.call
        return html`<${TraceRow}
          key=${id}
          node=${node}
          span=${span}
          usage=${usage?.get(id)}
          kind=${kinds.get(id)}
          isChosen=${id === chosen}
          isFolded=${folded.has(id)}
          onFold=${() => fold(id)}
          onChoose=${() => onChoose(id)}
        />`
      }}
    />
  </section>`
}

interface JumpsProps {
  readonly trees: readonly Node[]
  readonly endMs: number
  readonly onJump: (id: string) => void
}

/** Leads to the call at which a failure began, and to the one that took the most time of its own. */
function Jumps({ trees, endMs, onJump }: JumpsProps) {
  const [failed, slowest] = useMemo(() => {
    const rows = listRows(trees, new Set())
    return [firstErrorOf(rows), rows.length > 1 ? slowestOf(rows, endMs) : null]
  }, [trees, endMs])
  return html`${failed !== null && html`<button class="danger" onClick=${() => onJump(failed)}>${icon('circle-alert')} First error</button>`}
    ${slowest !== null && html`<button title="The call that took the most time without those below it" onClick=${() => onJump(slowest)}>${icon('timer')} Slowest</button>`}`
}

interface TotalsProps extends Pick<TraceTreeProps, 'calls' | 'isWhole' | 'usage'> {
  readonly trees: readonly Node[]
  readonly ms: number
  readonly children?: ComponentChildren
}

function Totals({ calls, isWhole, trees, usage, ms, children }: TotalsProps) {
  const isOpen = calls.some(({ ended_at }) => ended_at === null)
  const errors = trees.reduce((sum, node) => sum + node.errors, 0)
  const totals = trees.map(({ call }) => totalOf(usage?.get(call.id) ?? {}))
  const tokens = totals.reduce((sum, total) => sum + total.tokens, 0)
  const costs = totals.flatMap(({ cost }) => cost ?? [])
  return html`<div class="bar">
    <b role="status">${formatCalls(calls.length, isWhole ? '' : ' …')}</b>
    <span>${isOpen && ms === 0 ? '' : formatMs(ms)}</span>
    ${isOpen && html`<${StatusMark} status="running" />`}
    ${errors > 0 && html`<span class="status error">${formatCount(errors)} failed</span>`}
    ${tokens > 0 && html`<span title="each token counted once">${formatCount(tokens)} tokens</span>`}
    ${costs.length > 0 && html`<span>${formatCost(costs.reduce((sum, cost) => sum + cost, 0))}</span>`}
    ${children}
  </div>`
}

interface Walk {
  readonly rows: readonly Node[]
  /** Index of the selected call; -1 if it is not visible. */
  readonly at: number
  readonly folded: ReadonlySet<string>
  readonly fold: (id: string, isFolded: boolean) => void
  readonly onChoose: (id: string) => void
}

/** Keys of the tree: up and down select, right unfolds, left folds or goes to the parent. */
function keysOf({ rows, at, folded, fold, onChoose }: Walk) {
  const choose = (index: number) => {
    const node = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (node !== undefined) onChoose(node.call.id)
  }
  return (event: KeyboardEvent) => {
    const node = rows[at]
    const isParent = node !== undefined && node.children.length > 0
    const isFolded = node !== undefined && folded.has(node.call.id)
    if (event.key === 'ArrowDown') choose(at + 1)
    else if (event.key === 'ArrowUp') choose(at - 1)
    else if (event.key === 'Home') choose(0)
    else if (event.key === 'End') choose(rows.length - 1)
    else if (event.key === 'ArrowRight' && isParent) {
      if (isFolded) fold(node.call.id, false)
      else choose(at + 1)
    } else if (event.key === 'ArrowLeft' && node !== undefined) {
      if (isParent && !isFolded) fold(node.call.id, true)
      else choose(rows.findIndex(({ call }) => call.id === node.call.parent_id))
    } else return
    event.preventDefault()
  }
}

/** Returns the ids of all calls with children, except the roots. */
function parentsBelow(trees: readonly Node[]): Set<string> {
  const parents = listRows(trees, new Set()).filter(
    ({ depth, children }) => depth > 0 && children.length > 0,
  )
  return new Set(parents.map(({ call }) => call.id))
}
