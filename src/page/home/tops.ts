/** What is behind the charts: the models, operations, users and errors with the most calls, tokens or cost. */
import { html } from 'htm/preact'
import { type CallGroup, type GroupSums, readCallGroups } from '../api/call-groups.ts'
import { formatCost, formatCount, formatShort } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { SortHeading } from '../parts/tables/sort-heading.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { GROUPS, type GroupName, groupOf } from './top-groups.ts'

/** Limit: rows of a list. */
const ROWS_MAX = 8

const MEASURES = {
  calls: { label: 'Calls', format: formatCount },
  errors: { label: 'Errors', format: formatCount },
  tokens: { label: 'Tokens', format: formatShort },
  cost: { label: 'Cost', format: formatCost },
} as const
type Measure = keyof typeof MEASURES

function chosenGroup(): GroupName {
  const name = query.value.get('top') ?? ''
  return Object.hasOwn(GROUPS, name) ? (name as GroupName) : 'models'
}

function chosenMeasure(): Measure {
  const name = query.value.get('by') ?? ''
  return Object.hasOwn(MEASURES, name) ? (name as Measure) : 'calls'
}

interface TopsScope {
  readonly project: string
  readonly fromMs: number
  readonly toMs: number
}

interface TopsProps extends TopsScope {
  /** Changes with the range of the address, whose lists are then read again. */
  readonly name: string
  /** A new number reads the lists again. */
  readonly turn: number
}

export function Tops({ name, turn, ...scope }: TopsProps) {
  const chosen = chosenGroup()
  const by = chosenMeasure()
  const { label, field, none } = groupOf(chosen)
  const loaded = useLoad(
    `${name} ${chosen} ${by}`,
    (signal) => readCallGroups(scope, { field, sort: by, limit: ROWS_MAX }, signal),
    turn,
  )
  const found = loaded.value
  return html`<section class="card flush tops">
    <header>
      <h2>Top ${label.toLowerCase()}</h2>
      <div class="segments" role="group" aria-label="Top by">
        ${Object.entries(GROUPS).map(
          ([group, { label }]) =>
            html`<button key=${group} aria-pressed=${group === chosen} onClick=${() => setQuery({ top: group })}>${label}</button>`,
        )}
      </div>
    </header>
    <${Failure} words=${loaded.failure} />
    ${found === null && loaded.isLoading && html`<${Loading} />`}
    ${found?.rows.every((row) => row.name === null) && html`<p class="notice">${none}</p>`}
    ${found?.rows.some((row) => row.name !== null) && html`<div class=${loaded.isOther ? 'stale' : ''}><${TopTable} scope=${scope} chosen=${chosen} by=${by} rows=${found.rows} others=${found.others} /></div>`}
  </section>`
}

interface TopTableProps {
  readonly scope: TopsScope
  readonly chosen: GroupName
  readonly by: Measure
  readonly rows: readonly CallGroup[]
  readonly others: (GroupSums & { readonly groups: number }) | null
}

function TopTable({ scope, chosen, by, rows, others }: TopTableProps) {
  const { label } = groupOf(chosen)
  const top = Math.max(...rows.map((row) => row[by] ?? 0))
  // Each call of an error is one.
  const measures = (Object.keys(MEASURES) as Measure[]).filter(
    (each) => chosen !== 'errors' || each !== 'errors',
  )
  const cells = (sums: GroupSums) =>
    measures.map((each) => {
      const value = sums[each]
      return html`<td key=${each} class="number">${value === null ? '–' : MEASURES[each].format(value)}</td>`
    })
  return html`<div class="scroll" tabindex="0"><table class="list whole" aria-label=${`Top ${label.toLowerCase()}`}>
    <thead><tr><th scope="col">${label.slice(0, -1)}</th>${measures.map(
      (each) =>
        html`<${SortHeading} key=${each} label=${MEASURES[each].label} isNumber direction=${each === by ? 'desc' : null} onSort=${() => setQuery({ by: each })} />`,
    )}</tr></thead>
    <tbody>${rows.map(
      (row) => html`<tr key=${row.name}>
        <th scope="row" class="top-name"><${Name} scope=${scope} chosen=${chosen} by=${by} name=${row.name} /><meter class="share" min="0" max="1" value=${top === 0 ? 0 : (row[by] ?? 0) / top} aria-hidden="true"></meter></th>
        ${cells(row)}
      </tr>`,
    )}
      ${others !== null && html`<tr class="faint"><th scope="row" class="top-name">${formatCount(others.groups)} others</th>${cells(others)}</tr>`}
    </tbody>
  </table></div>`
}

interface NameProps extends Pick<TopTableProps, 'scope' | 'chosen' | 'by'> {
  readonly name: string | null
}

/** Leads to the calls of the row; where rows are ordered by cost, with the most expensive first. */
function Name({ scope: { project, fromMs, toMs }, chosen, by, name }: NameProps) {
  const { wordsOf, linkOf, unnamed } = groupOf(chosen)
  if (name === null) return html`<span class="faint">${unnamed}</span>`
  const words = wordsOf?.(name) ?? name
  const range = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
  const query = new URLSearchParams({ ...linkOf(words), ...range, all: '1' })
  if (by === 'cost') query.set('sort', '-cost')
  return html`<a href=${`${pathTo(project, 'calls')}?${query}`} title=${name}>${words}</a>`
}
