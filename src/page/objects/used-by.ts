/** The calls that used a version of an object, or ran a version of an op. */
import { html } from 'htm/preact'
import { requestJson, requestLines } from '../api/client.ts'
import { type Call, factsOf } from '../api/wire.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCount, formatMs, formatTime, shortOp } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { pathTo } from '../shell/page-route.ts'
import { kindOf, type ObjectVersion, refOf } from './kinds.ts'

/** Calls that are shown here; the table of calls has them all. */
const CALLS_SHOWN = 10

export function UsedBy({ object }: { readonly object: ObjectVersion }) {
  const { project_id, kind } = object
  const ref = refOf(object)
  const filter = kind === 'op' ? { op_names: [ref] } : { input_refs: [ref] }
  const loaded = useLoad(ref, async (signal) => {
    const question = { project_id, filter }
    const body = {
      ...question,
      columns: ['display_name', 'summary'],
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      limit: CALLS_SHOWN,
    }
    const [{ count }, calls] = await Promise.all([
      requestJson<{ count: number }>('/calls/query_stats', question, { signal }),
      Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal })),
    ])
    return { count, calls }
  })
  const all = callsBy(project_id, kind === 'op' ? 'op' : 'ref', ref)
  return html`<section class="part" aria-label="Calls that used it">
    <h2>${kind === 'op' ? 'Calls of this version' : 'Calls that used this version'}</h2>
    <${Failure} words=${loaded.failure} />
    ${loaded.value === null && loaded.isLoading && html`<${Loading} />`}
    ${loaded.value?.count === 0 && html`<p class="faint">None.</p>`}
    ${kindOf(object) === 'datasets' && html`<p><a href=${callsBy(project_id, 'text', ref)}>Calls with a row of it in their bodies</a></p>`}
    ${
      loaded.value !== null &&
      loaded.value.count > 0 &&
      html`<p><a href=${all}>${formatCount(loaded.value.count)} in all</a></p>
      <${CallGrid} calls=${loaded.value.calls} />`
    }
  </section>`
}

/** The table of calls by one of its filters. */
function callsBy(project: string, filter: string, value: string): string {
  return `${pathTo(project, 'calls')}?${new URLSearchParams({ [filter]: value, all: '1' })}`
}

function CallGrid({ calls }: { readonly calls: readonly Call[] }) {
  return html`<${Grid}
    label="Calls that used it"
    columns=${COLUMNS}
    count=${calls.length}
    at=${(index: number) => calls[index]}
  />`
}

const COLUMNS: readonly Column<Call>[] = [
  {
    name: 'operation',
    label: 'Operation',
    width: 160,
    grow: 1,
    cell: (call) =>
      html`<a href=${pathTo(call.project_id, 'calls', call.id)}>${call.display_name ?? shortOp(call.op_name)}</a>`,
  },
  {
    name: 'started',
    label: 'Started',
    width: 150,
    cell: (call) => formatTime(call.started_at, false),
  },
  {
    name: 'status',
    label: 'Status',
    width: 90,
    cell: (call) => html`<${StatusMark} status=${factsOf(call).status} />`,
  },
  {
    name: 'latency',
    label: 'Latency',
    width: 80,
    isNumber: true,
    cell: (call) => formatMs(factsOf(call).latency_ms),
  },
]
