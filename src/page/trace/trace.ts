/** A trace: the tree of its calls beside the times at which they ran, and the call that was chosen. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { ask, askLines } from '../api/client.ts'
import type { Call } from '../api/wire.ts'
import { formatCount, formatMs } from '../parts/format.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { WindowList } from '../parts/window-list.ts'
import { query, setQuery } from '../shell/location.ts'
import { CallDetail } from './call-detail.ts'
import { TraceRow } from './trace-row.ts'
import { buildTrees, listRows, type Node, spanOfAll } from './tree.ts'

const ROW_PX = 28
/** Limit: calls of a trace that are drawn. */
const CALLS_MAX = 100_000
/** What the tree needs of a call: bodies are read when a call is opened. */
const COLUMNS = ['display_name', 'parent_id', 'ended_at', 'exception', 'summary']

interface TraceProps {
  readonly project: string
  /** Of any call of the trace. */
  readonly id: string
}

async function readTrace(project_id: string, id: string, signal: AbortSignal): Promise<Call[]> {
  const { call } = await ask<{ call: Call }>('/call/read', { project_id, id }, { signal })
  const body = {
    project_id,
    filter: { trace_ids: [call.trace_id] },
    columns: COLUMNS,
    limit: CALLS_MAX,
  }
  const calls: Call[] = []
  for await (const found of askLines<Call>('/calls/stream_query', body, { signal }))
    calls.push(found)
  return calls
}

export function Trace({ project, id }: TraceProps) {
  const [count, reload] = useState(0)
  const trace = useLoad(`${project} ${id} ${count}`, (signal) => readTrace(project, id, signal))
  const chosen = query.value.get('call') ?? id
  if (trace.value === null) {
    return html`<${Failure} words=${trace.failure} />${trace.isLoading && html`<${Loading} />`}`
  }
  return html`<${Failure} words=${trace.failure} />
    <div class="trace">
      <${Tree} calls=${trace.value} chosen=${chosen} onReload=${() => reload(count + 1)} />
      <${CallDetail} key=${chosen} project=${project} id=${chosen} />
    </div>`
}

interface TreeProps {
  readonly calls: readonly Call[]
  readonly chosen: string
  readonly onReload: () => void
}

function Tree({ calls, chosen, onReload }: TreeProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const trees = useMemo(() => buildTrees(calls), [calls])
  const rows = useMemo(() => listRows(trees, folded), [trees, folded])
  const span = useMemo(() => spanOfAll(calls), [calls])
  const fold = (id: string) => {
    const next = new Set(folded)
    if (!next.delete(id)) next.add(id)
    setFolded(next)
  }
  const choose = (id: string) => setQuery({ call: id })
  const errors = trees.reduce((sum, node) => sum + node.errors, 0)
  return html`<section class="tree" aria-label="Calls of the trace">
    <div class="bar">
      <b>${formatCount(calls.length)} calls</b>
      <span>${formatMs(span.endMs - span.startMs)}</span>
      ${errors > 0 && html`<span class="status error">${formatCount(errors)} failed</span>`}
      <span class="push"></span>
      <button onClick=${() => setFolded(new Set())}>Unfold</button>
      <button onClick=${() => setFolded(parentsBelow(trees))}>Fold</button>
      <button onClick=${onReload}>Refresh</button>
    </div>
    <${WindowList}
      count=${rows.length}
      rowHeight=${ROW_PX}
      label="Calls of the trace"
      role="group"
      renderRow=${(index: number) => {
        const node = rows[index] as Node
        const { id } = node.call
        return html`<${TraceRow}
          key=${id}
          node=${node}
          span=${span}
          isChosen=${id === chosen}
          isFolded=${folded.has(id)}
          onFold=${() => fold(id)}
          onChoose=${() => choose(id)}
        />`
      }}
    />
  </section>`
}

/** All calls that have others below them, but for the roots. */
function parentsBelow(trees: readonly Node[]): Set<string> {
  const parents = listRows(trees, new Set()).filter(
    ({ depth, children }) => depth > 0 && children.length > 0,
  )
  return new Set(parents.map(({ call }) => call.id))
}
