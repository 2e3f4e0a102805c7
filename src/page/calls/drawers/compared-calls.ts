/** Two calls side by side: what each took and cost, and the members of their bodies that differ. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { requestLines } from '../../api/client.ts'
import { type Call, factsOf, usageOf } from '../../api/wire.ts'
import { ChangeList } from '../../objects/change-list.ts'
import { listChanges } from '../../objects/value-changes.ts'
import { StatusMark } from '../../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime, shortOp } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { Failure, Loading } from '../../parts/notice.ts'
import { pathTo } from '../../shell/page-route.ts'

interface ComparedCallsProps {
  readonly project: string
  /** Two ids. */
  readonly ids: readonly string[]
}

/** @throws Error when one of the calls is not there; returns the older call first */
async function readPair(
  project_id: string,
  call_ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly [Call, Call]> {
  const body = {
    project_id,
    filter: { call_ids },
    include_costs: true,
    include_tree_usage: true,
  }
  const calls = await Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal }))
  const [first, second] = calls
  if (first === undefined || second === undefined)
    throw new Error(
      'Two calls are compared, and one of these is not there; it may have been deleted.',
    )
  return [first, second]
}

export function ComparedCalls({ project, ids }: ComparedCallsProps) {
  const pair = useLoad(ids.join(' '), (signal) => readPair(project, ids, signal))
  if (pair.value === null)
    return html`<h1>Two calls</h1><${Failure} words=${pair.failure} />${pair.isLoading && html`<${Loading} />`}`
  const [first, second] = pair.value
  return html`<h1>Two calls</h1>
    <${Failure} words=${pair.failure} />
    <${Measures} project=${project} first=${first} second=${second} />
    <${Differences} first=${first} second=${second} />`
}

interface PairProps {
  readonly first: Call
  readonly second: Call
}

function Differences({ first, second }: PairProps) {
  const changes = useMemo(() => listChanges(bodiesOf(first), bodiesOf(second)), [first, second])
  if (changes.length === 0)
    return html`<p class="notice">Their inputs, outputs, errors and attributes are the same.</p>`
  return html`<h2 class="apart">What differs</h2><${ChangeList} changes=${changes} names=${['First', 'Second']} />`
}

function bodiesOf({ inputs, output, exception, attributes }: Call): object {
  return { inputs, output, exception, attributes }
}

interface Measured {
  readonly label: string
  readonly read: (call: Call) => number | null
  readonly show: (value: number) => string
}

const MEASURED: readonly Measured[] = [
  { label: 'Latency', read: (call) => factsOf(call).latency_ms ?? null, show: formatMs },
  {
    label: 'Tokens, including descendants',
    read: (call) => factsOf(call).tree_total_tokens ?? usageOf(call).tokens,
    show: formatCount,
  },
  {
    label: 'Cost, including descendants',
    read: (call) => factsOf(call).tree_total_cost ?? usageOf(call).cost,
    show: formatCost,
  },
]

/** A difference with its sign: `+1.20 s`. */
function signed(difference: number, show: Measured['show']): string {
  if (difference === 0) return 'the same'
  return `${difference > 0 ? '+' : '−'}${show(Math.abs(difference))}`
}

function Measures({ project, first, second }: PairProps & { readonly project: string }) {
  const pair = [first, second]
  const cells = (read: (call: Call) => unknown) =>
    pair.map((call) => html`<td key=${call.id}>${read(call)}</td>`)
  return html`<div class="scroll"><table class="list compared-calls">
    <thead><tr><th scope="col"></th><th scope="col">First</th><th scope="col">Second</th><th scope="col">Difference</th></tr></thead>
    <tbody>
      <tr><th scope="row">Operation</th>${cells((call) => html`<a href=${pathTo(project, 'calls', call.id)}>${call.display_name ?? shortOp(call.op_name)}</a>`)}<td></td></tr>
      <tr><th scope="row">Status</th>${cells((call) => html`<${StatusMark} status=${factsOf(call).status} />`)}<td></td></tr>
      <tr><th scope="row">Started</th>${cells(({ started_at }) => formatTime(started_at))}<td></td></tr>
      <tr><th scope="row">Model</th>${cells((call) => usageOf(call).models.join(', '))}<td></td></tr>
      ${MEASURED.map(({ label, read, show }) => {
        const [left, right] = [read(first), read(second)]
        const words = left === null || right === null ? '' : signed(right - left, show)
        return html`<tr key=${label}><th scope="row">${label}</th>${cells((call) => {
          const value = read(call)
          return value === null ? '–' : show(value)
        })}<td>${words}</td></tr>`
      })}
    </tbody>
  </table></div>`
}
