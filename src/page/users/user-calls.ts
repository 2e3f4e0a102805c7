/** The newest calls of an end user in the range of the address, with what was said of them. */
import { html } from 'htm/preact'
import { requestLines } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { type Call, factsOf } from '../api/wire.ts'
import { field, literal } from '../calls/search/conditions.ts'
import { summaryOf } from '../parts/calls/feedback-summary.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { readRange } from '../parts/charts/range.ts'
import { formatCost, formatMs, shortOp } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'
import { pathTo } from '../shell/page-route.ts'

/** Limit: calls that are listed; the list of all calls has the others. */
const CALLS_MAX = 50

/** The newest calls of an end user. @param options - further fields of the query; `condition` that calls must meet */
export function readUserCalls(
  project_id: string,
  user: string,
  { condition, ...options }: { readonly condition?: object; readonly [name: string]: unknown },
  signal: AbortSignal,
): Promise<Call[]> {
  const { fromMs, toMs } = readRange(serverNow())
  const time = (ms: number) => literal(new Date(ms).toISOString())
  const within = [
    { $gte: [field('started_at'), time(fromMs)] },
    { $lt: [field('started_at'), time(toMs)] },
  ]
  const body = {
    project_id,
    filter: { end_user_ids: [user] },
    query: { $expr: { $and: condition === undefined ? within : [...within, condition] } },
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    ...options,
  }
  return Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal }))
}

interface UserCallsProps {
  readonly project: string
  readonly user: string
}

export function UserCalls({ project, user }: UserCallsProps) {
  const calls = useLoad(`${project} ${user}`, (signal) => {
    const columns = ['op_name', 'started_at', 'ended_at', 'exception', 'summary']
    const options = { columns, limit: CALLS_MAX, include_costs: true, include_feedback: true }
    return readUserCalls(project, user, options, signal)
  })
  const { fromMs, toMs } = readRange(serverNow())
  const all = new URLSearchParams({
    'end-user': user,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    all: '1',
  })
  return html`<section class="card flush">
    <header><h2>Newest calls</h2><a href=${`${pathTo(project, 'calls')}?${all}`}>See all calls of this time</a></header>
    <${Failure} words=${calls.failure} />
    ${calls.value === null && calls.isLoading && html`<${Loading} />`}
    ${
      calls.value !== null &&
      html`<div class="scroll" tabindex="0"><table class="list whole" aria-label="Calls">
        <thead><tr><th scope="col">Operation</th><th scope="col">Status</th><th scope="col">Started</th><th scope="col" class="number">Latency</th><th scope="col" class="number">Cost</th><th scope="col">Feedback</th></tr></thead>
        <tbody>${calls.value.map((call) => html`<${CallRow} key=${call.id} project=${project} call=${call} />`)}</tbody>
      </table></div>`
    }
  </section>`
}

function CallRow({ project, call }: { readonly project: string; readonly call: Call }) {
  const { status, latency_ms, total_cost, feedback } = factsOf(call)
  return html`<tr>
    <th scope="row" class="user-name"><a href=${pathTo(project, 'calls', call.id)}>${shortOp(call.op_name)}</a></th>
    <td><${StatusMark} status=${status} /></td>
    <td><${RelativeTime} at=${call.started_at} /></td>
    <td class="number">${latency_ms !== undefined && formatMs(latency_ms)}</td>
    <td class="number">${total_cost !== undefined && formatCost(total_cost)}</td>
    <td class="wrap">${summaryOf(feedback ?? [])}</td>
  </tr>`
}
