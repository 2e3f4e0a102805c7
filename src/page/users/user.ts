/** One end user: what they did over time, their conversations and their calls. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { readCallGroups } from '../api/call-groups.ts'
import { serverNow } from '../api/clock.ts'
import { builtInCharts, readStatistics, type Statistics } from '../home/charts.ts'
import { BUILT_IN } from '../home/panels/panel.ts'
import { linesOf } from '../home/series.ts'
import { chartsRequest } from '../home/shown-range.ts'
import { rangeName, readRange } from '../parts/charts/range.ts'
import { formatCost, formatCount, formatShort } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'
import { TimePicker } from '../parts/time/time-picker.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { timeZone } from '../shell/settings.ts'
import { UserCalls } from './user-calls.ts'
import { UserThreads } from './user-threads.ts'

/** The sums of the user in the range of the address. */
async function readSums(project: string, user: string, signal: AbortSignal) {
  const { fromMs, toMs } = readRange(serverNow())
  const scope = { project, fromMs, toMs, filter: { end_user_ids: [user] } }
  const grouping = { field: 'end_user_id', sort: 'calls', limit: 1, times: true } as const
  return { row: (await readCallGroups(scope, grouping, signal)).rows[0] ?? null }
}

export function UserView({ project, subject }: ViewProps) {
  const user = subject ?? ''
  const name = `${project} ${user} ${rangeName.value} ${timeZone()}`
  const sums = useLoad(name, (signal) => readSums(project, user, signal))
  const charts = useLoad(name, (signal) =>
    readStatistics(chartsRequest(project, { end_user_ids: [user] }), signal),
  )
  const row = sums.value?.row ?? null
  return html`<h1 class="user-name" title=${user}>${user}</h1>
    <div class="bar"><${TimePicker} isLoading=${sums.isLoading || charts.isLoading} /><a class="button" href=${pathTo(project, 'users')}>All users</a></div>
    <${Failure} words=${sums.failure ?? charts.failure} />
    ${sums.value === null && sums.isLoading && html`<${Loading} />`}
    ${sums.value !== null && row === null && html`<p class="notice">This user has no calls in this time. Choose a longer one.</p>`}
    ${
      row !== null &&
      html`<div class=${sums.isOther ? 'stale' : ''} aria-busy=${sums.isOther}>
      <dl class="figures" aria-label="Sums">
        <${Sum} label="Calls" value=${formatCount(row.calls)} />
        <${Sum} label="Errors" value=${formatCount(row.errors)} />
        <${Sum} label="Tokens" value=${formatShort(row.tokens)} />
        <${Sum} label="Cost" value=${row.cost === null ? '–' : formatCost(row.cost)} />
        <${Sum} label="First call" value=${row.firstAt && html`<${RelativeTime} at=${row.firstAt} />`} />
        <${Sum} label="Last call" value=${row.lastAt && html`<${RelativeTime} at=${row.lastAt} />`} />
      </dl>
      ${charts.value !== null && html`<${Charts} project=${project} user=${user} ...${charts.value} />`}
      </div>
      <${UserThreads} key=${`threads ${name}`} project=${project} user=${user} />
      <${UserCalls} key=${`calls ${name}`} project=${project} user=${user} />`
    }`
}

interface SumProps {
  readonly label: string
  readonly value: unknown
}

function Sum({ label, value }: SumProps) {
  return html`<div class="figure"><dt class="label">${label}</dt><dd class="value">${value}</dd></div>`
}

interface ChartsProps extends Statistics {
  readonly project: string
  readonly user: string
}

function Charts({ project, user, query, response }: ChartsProps) {
  const lines = useMemo(() => linesOf(response), [response])
  const names = { 'end-user': user, all: '1' }
  const charts = builtInCharts({ project, query, response, lines, names })
  return html`<div class="charts five">${BUILT_IN.map((id) => charts[id])}</div>`
}
