/** What is behind the charts: the models, operations, users and errors with the most calls, tokens or cost. */
import { html } from 'htm/preact'
import { formatCost, formatCount, formatShort } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { icon } from '../parts/icon.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { GROUPS, type GroupName, SAMPLE_MAX, type TopRows, type TopsScope } from './top-groups.ts'
import type { Sums, Totals } from './totals.ts'

/** Limit: rows of a list. */
const ROWS_MAX = 8

const MEASURES = {
  calls: { label: 'Calls', read: ({ calls }: Sums) => calls, format: formatCount },
  errors: { label: 'Errors', read: ({ errors }: Sums) => errors, format: formatCount },
  tokens: { label: 'Tokens', read: ({ tokens }: Sums) => tokens, format: formatShort },
  cost: { label: 'Cost', read: ({ cost }: Sums) => cost, format: formatCost },
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

interface TopsProps extends TopsScope {
  /** Changes with the range of the address, whose lists are then read again. */
  readonly name: string
  /** Sums of the range. */
  readonly totals: Loaded<{ readonly now: Totals }>
}

export function Tops({ name, totals, ...scope }: TopsProps) {
  const chosen = chosenGroup()
  const { label, read } = GROUPS[chosen]
  const own = useLoad(`${name} ${chosen}`, async (signal) => (await read?.(scope, signal)) ?? null)
  const loaded = read === null ? { ...totals, value: rowsOf(totals.value) } : own
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
    ${
      loaded.value === null
        ? loaded.isLoading && html`<${Loading} />`
        : html`<div class=${loaded.isOther ? 'stale' : ''}><${TopTable} scope=${scope} chosen=${chosen} rows=${loaded.value.rows} />
            ${loaded.value.isSample && html`<p class="faint sample">Found in the newest ${formatCount(SAMPLE_MAX)} ${chosen === 'errors' ? 'failed calls' : 'calls'} of this time.</p>`}</div>`
    }
  </section>`
}

function rowsOf(totals: { readonly now: Totals } | null): TopRows | null {
  return totals === null ? null : { rows: totals.now.models, isSample: false }
}

interface TopTableProps {
  readonly scope: TopsScope
  readonly chosen: GroupName
  readonly rows: readonly Sums[]
}

function TopTable({ scope, chosen, rows }: TopTableProps) {
  const { label, linkOf, none } = GROUPS[chosen]
  const by = chosenMeasure()
  if (rows.length === 0) return html`<p class="notice">${none}</p>`
  const { read } = MEASURES[by]
  const sorted = rows
    .toSorted((a, b) => (read(b) ?? -1) - (read(a) ?? -1) || a.name.localeCompare(b.name))
    .slice(0, ROWS_MAX)
  const top = Math.max(...sorted.map((row) => read(row) ?? 0))
  // Of errors there is nothing but their number.
  const measures = (Object.keys(MEASURES) as Measure[]).filter((each) =>
    rows.some(
      (row) => MEASURES[each].read(row) !== null && (chosen !== 'errors' || each === 'calls'),
    ),
  )
  const hrefOf = (row: Sums) => {
    const range = {
      from: new Date(scope.fromMs).toISOString(),
      to: new Date(scope.toMs).toISOString(),
    }
    return `${pathTo(scope.project, 'calls')}?${new URLSearchParams({ ...linkOf(row.name), ...range, all: '1' })}`
  }
  return html`<div class="scroll" tabindex="0"><table class="list whole" aria-label=${`Top ${label.toLowerCase()}`}>
    <thead><tr><th scope="col">${label.slice(0, -1)}</th>${measures.map((each) => {
      const order = each === by ? 'descending' : undefined
      return html`<th key=${each} scope="col" class="number" aria-sort=${order}><button class="sort" onClick=${() => setQuery({ by: each })}>${MEASURES[each].label}${each === by && icon('arrow-down')}</button></th>`
    })}</tr></thead>
    <tbody>${sorted.map((row) => {
      const share = top === 0 ? 0 : (read(row) ?? 0) / top
      return html`<tr key=${row.name}>
        <th scope="row" class="top-name"><a href=${hrefOf(row)} title=${row.name}>${row.name}</a><meter class="share" min="0" max="1" value=${share} aria-hidden="true"></meter></th>
        ${measures.map((each) => {
          const value = MEASURES[each].read(row)
          return html`<td key=${each} class="number">${value === null ? '–' : MEASURES[each].format(value)}</td>`
        })}
      </tr>`
    })}</tbody>
  </table></div>`
}
