/** The calls that used a version of an object, or ran a version of an op. */
import { html } from 'htm/preact'
import { requestJson, requestLines } from '../api/client.ts'
import { type Call, factsOf } from '../api/wire.ts'
import { readTotals, type Totals } from '../home/totals.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime, shortOp } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { PromptRuns } from '../prompts/prompt-runs.ts'
import { pathTo } from '../shell/page-route.ts'
import { kindOf, type ObjectVersion, refOf } from './kinds.ts'

/** Around the time in which calls are counted: clients set their times. */
const DAY_MS = 86_400_000
/** Calls that are shown here; the table of calls has them all. */
const CALLS_SHOWN = 10

interface UsedByProps {
  readonly object: ObjectVersion
  /** All versions of the object; empty while they are unknown. */
  readonly versions: readonly ObjectVersion[]
}

export function UsedBy({ object, versions }: UsedByProps) {
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
    const times = { fromMs: Date.parse(object.created_at) - DAY_MS, toMs: Date.now() + DAY_MS }
    const [{ count }, totals, calls] = await Promise.all([
      requestJson<{ count: number }>('/calls/query_stats', question, { signal }),
      readTotals({ project: project_id, ...times, filter }, signal),
      Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal })),
    ])
    return { count, totals, calls }
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
      <${UseTotals} totals=${loaded.value.totals} />
      <${CallGrid} calls=${loaded.value.calls} />`
    }
  </section>
  ${kindOf(object) === 'prompts' && html`<${PromptRuns} object=${object} versions=${versions} />`}`
}

/** What the calls took and cost since the version was published; reports of calls below them do not count. */
function UseTotals({ totals }: { readonly totals: Totals }) {
  const facts = [
    ['Errors', formatCount(totals.errors)],
    ['p95 latency', totals.p95 === null ? '–' : formatMs(totals.p95)],
    ['Tokens', formatCount(totals.tokens)],
    ['Cost', totals.cost === null ? 'no price' : formatCost(totals.cost)],
  ]
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
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
