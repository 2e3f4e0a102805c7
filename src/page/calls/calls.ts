/** The calls of a project: a search, the table, and what can be done with the calls. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { formatCalls, formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { icon } from '../parts/icon.ts'
import { rowsMax } from '../parts/tables/window-list.ts'
import { TimePicker } from '../parts/time/time-picker.ts'
import { query } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { Actions } from './actions/actions.ts'
import { rowPx } from './call-row.ts'
import { CallTable } from './call-table.ts'
import { ColumnPicker } from './column-picker.ts'
import { columnNames, showTags } from './columns.ts'
import { CompareDrawer, compareCalls } from './drawers/compare-drawer.ts'
import { callsQueryOf, hasTimeRange, isFiltered, queryName } from './filters.ts'
import { findLastPosition } from './last-position.ts'
import { NewCalls } from './new-calls.ts'
import { SavedViews } from './saved-views.ts'
import { SearchBox } from './search/search-box.ts'
import {
  countSelected,
  EVERYTHING,
  isEmpty,
  NOTHING,
  type Selection,
} from './selection/selection.ts'
import { sort } from './sort.ts'

interface Count {
  readonly count: number
  readonly has_more: boolean
}

export function Calls({ project }: { readonly project: string }) {
  const [untilMs, setUntil] = useState(() => findLastPosition()?.untilMs ?? serverNow())
  const question = callsQueryOf(project, untilMs)
  const name = `${queryName.value} ${untilMs}`
  const count = useLoad(name, (signal) =>
    requestJson<Count>(
      '/calls/query_stats',
      { ...question, limit: rowsMax(rowPx.peek()) },
      { signal },
    ),
  )
  const counted = count.isLoading ? null : count.value
  const [selection, setSelection] = useSelection(queryName.value)
  const refresh = () => setUntil(serverNow())
  const forgetDeleted = () => {
    setSelection(NOTHING)
    refresh()
  }
  const showTagged = () => {
    showTags()
    refresh()
  }
  const target = { project, question, selection }
  const { column, direction } = sort.value
  const compared = query.value.get('compare')
  return html`<h1 class="hidden">Calls</h1>
    <${SearchBox} project=${project}><${SavedViews} project=${project} /><${ColumnPicker} /><//>
    ${
      isEmpty(selection)
        ? html`<div class="bar list-bar">
            <b role="status">${counted === null ? '… calls' : formatCalls(counted.count, counted.has_more ? ' and more' : '')}</b>
            <${TimePicker} hasAllTime />
            ${
              !query.value.has('to') &&
              html`<${NewCalls}
                key=${name}
                untilMs=${untilMs}
                questionUntil=${(fromMs: number, toMs: number) => callsQueryOf(project, toMs, fromMs)}
                onShow=${refresh}
              />`
            }
            <span class="push"></span>
            <button class="square" aria-label="Refresh" title="Refresh" onClick=${refresh}>${icon('refresh-cw')}</button>
            <${Actions} target=${target} onDeleted=${refresh} onTagged=${showTagged} />
          </div>`
        : html`<${Selected} count=${counted?.count ?? null} selection=${selection} onSelect=${setSelection}>
            <${Actions} target=${target} onDeleted=${forgetDeleted} onTagged=${showTagged} />
          <//>`
    }
    ${counted?.has_more && html`<p class="faint">The table ends there; the export does not.</p>`}
    <${CallTable}
      key=${`${name} ${columnNames.value} ${column} ${direction}`}
      question=${question}
      count=${counted?.count ?? null}
      failure=${count.failure}
      project=${project}
      untilMs=${untilMs}
      selection=${selection}
      onSelect=${setSelection}
    />
    ${compared !== null && html`<${CompareDrawer} project=${project} ids=${compared} />`}
    ${counted?.count === 0 && html`<p class="notice"><${NoCalls} project=${project} /></p>`}`
}

/** The selection of one search; another search has none. */
function useSelection(name: string) {
  const [kept, setKept] = useState({ name, selection: NOTHING })
  const selection = kept.name === name ? kept.selection : NOTHING
  return [selection, (next: Selection) => setKept({ name, selection: next })] as const
}

interface SelectedProps {
  /** Calls of the search; null while it is unknown. */
  readonly count: number | null
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
  readonly children?: unknown
}

function Selected({ count, selection, onSelect, children }: SelectedProps) {
  const selected = countSelected(selection, count)
  return html`<div class="bar list-bar picked" role="group" aria-label="Selected calls">
    <b role="status">${selected === null ? '…' : formatCount(selected)} selected</b>
    ${
      count !== null &&
      selected !== count &&
      html`<button class="quiet" onClick=${() => onSelect(EVERYTHING)}>select all ${formatCount(count)}</button>`
    }
    <button class="quiet" onClick=${() => onSelect(NOTHING)}>select none</button>
    <span class="push"></span>
    ${!selection.isAll && selection.ids.size === 2 && html`<button onClick=${() => compareCalls([...selection.ids])}>${icon('git-compare')} Compare</button>`}
    ${children}
  </div>`
}

function NoCalls({ project }: { readonly project: string }) {
  if (isFiltered.value) return 'No calls match the filter.'
  if (hasTimeRange.value) return 'No calls in this time.'
  return html`No calls yet. <a href=${pathTo(project)}>Overview</a> shows how the first one is recorded.`
}
