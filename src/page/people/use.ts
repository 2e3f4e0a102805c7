/** What the people and keys of a project have used over time: by model, and by person. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { KeyResponse } from '../../schemas/access/key.ts'
import type { PersonResponse } from '../../schemas/access/person.ts'
import { requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { caller } from '../api/session.ts'
import type { StatsQueryBody, StatsResponse } from '../api/wire.ts'
import { linesByModel, sumOf, timesOf } from '../home/series.ts'
import { Chart } from '../parts/charts/chart.ts'
import type { Line } from '../parts/charts/line.ts'
import { formatCost } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { timeZone } from '../shell/settings.ts'

const DAYS = 30
const DAY_MS = 86_400_000
const SECONDS_OF_DAY = 86_400
/** Limit: people of whom the use is read, each by a request. */
const PEOPLE_MAX = 12
const COLORS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5', '--chart-6']

interface User {
  readonly id: string
  readonly name: string
}

/** @param user - whose use is shown; default: of all, and by person */
export function Use({ user = null }: { readonly user?: string | null }) {
  const projects = caller.value?.projects ?? []
  const [project, setProject] = useState(projects[0] ?? '')
  const name = `use ${project} ${user} ${timeZone()}`
  const loaded = useLoad(name, (signal) => readUse(project, user, signal))
  if (project === '') return null
  return html`<section class="card" aria-label="Use">
    <div class="bar">
      <h2>Use in ${DAYS} days</h2>
      <label>Project<select value=${project} onChange=${textOf(setProject)}>
        ${projects.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
      </select></label>
    </div>
    <${Failure} words=${loaded.failure} />
    ${loaded.value === null ? loaded.isLoading && html`<${Loading} />` : html`<${Charts} ...${loaded.value} />`}
  </section>`
}

interface ReadUse {
  readonly all: StatsResponse
  readonly people: readonly Line[]
}

async function readUse(
  project: string,
  user: string | null,
  signal: AbortSignal,
): Promise<ReadUse> {
  const all = await askCosts(project, user, signal)
  if (user !== null) return { all, people: [] }
  const users = (await readUsers(signal)).slice(0, PEOPLE_MAX)
  const lines = await Promise.all(
    users.map(async ({ id, name }) => {
      const costs = linesByModel(await askCosts(project, id, signal), 'sum_total_cost')
      const values = all.call_buckets.map((_, at) => sumOf(costs.map((line) => oneOf(line, at))))
      return { label: name, values }
    }),
  )
  const used = lines.filter((line) => sumOf([line]) > 0)
  const ordered = used.sort((one, other) => sumOf([other]) - sumOf([one]))
  return { all, people: ordered.slice(0, COLORS.length).map(withColor) }
}

function oneOf(line: Line, at: number): Line {
  return { ...line, values: [line.values[at] ?? 0] }
}

function withColor(line: Line, at: number): Line {
  return { ...line, color: COLORS[at] ?? '--chart-6' }
}

/** Users of keys, and people who sign in, without duplicates. */
async function readUsers(signal: AbortSignal): Promise<User[]> {
  const [keys, people] = await Promise.all([
    requestJson<{ data: KeyResponse[] }>('/v1/keys', undefined, { signal }),
    requestJson<{ data: PersonResponse[] }>('/v1/people', undefined, { signal }),
  ])
  const users = new Map<string, string>()
  for (const { svc_user_id, svc_username } of keys.data) users.set(svc_user_id, svc_username)
  for (const { id, name, email } of people.data) users.set(id, name ?? email ?? id)
  return [...users].map(([id, name]) => ({ id, name }))
}

function askCosts(project_id: string, user: string | null, signal: AbortSignal) {
  const now = serverNow()
  const question: StatsQueryBody = {
    project_id,
    start: new Date(now - DAYS * DAY_MS).toISOString(),
    end: new Date(now).toISOString(),
    granularity: SECONDS_OF_DAY,
    timezone: timeZone(),
    call_metrics: [{ metric: 'call_count' }],
    usage_metrics: [{ metric: 'total_cost' }],
    ...(user === null ? {} : { filter: { svc_user_ids: [user] } }),
  }
  return requestJson<StatsResponse>('/calls/stats', question, { signal })
}

function Charts({ all, people }: ReadUse) {
  const models = linesByModel(all, 'sum_total_cost')
  if (sumOf(models) === 0) return html`<p class="nothing">no cost in this time</p>`
  const times = timesOf(all)
  const shared = { times, format: formatCost, isBars: false }
  return html`<h3>Cost by model: ${formatCost(sumOf(models))}</h3>
    <${Chart} ...${shared} title="Cost by model" lines=${models} />
    ${
      people.length > 0 &&
      html`<h3>Cost by person</h3><${Chart} ...${shared} title="Cost by person" lines=${people} />`
    }`
}
