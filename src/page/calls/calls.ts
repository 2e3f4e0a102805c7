/** The calls of a project as a table. */
import { html } from 'htm/preact'
import { useCallback, useLayoutEffect, useState } from 'preact/hooks'
import { errorText, requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { may } from '../api/session.ts'
import type { CallsQueryBody } from '../api/wire.ts'
import { formatCalls, formatTime } from '../parts/format.ts'
import { Failure } from '../parts/notice.ts'
import { rowsMax, WindowList } from '../parts/tables/window-list.ts'
import { useLoad } from '../parts/use-load.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { AddToQueue } from './add-to-queue.ts'
import { CallRow, ColumnNames } from './call-row.ts'
import { ColumnPicker } from './column-picker.ts'
import { columnNames, columns } from './columns.ts'
import { ExportButtons } from './export-button.ts'
import { callsQueryOf, hasTimeRange, isFiltered, queryName } from './filters.ts'
import { findLastPosition, saveLastPosition } from './last-position.ts'
import { type CallPages, openCallPages } from './pages.ts'
import { SearchBox } from './search/search-box.ts'

const ROW_PX = 32

interface Count {
  readonly count: number
  readonly has_more: boolean
}

export function Calls({ project }: { readonly project: string }) {
  const [untilMs, setUntil] = useState(() => findLastPosition()?.untilMs ?? serverNow())
  const question = callsQueryOf(project, untilMs)
  const name = `${queryName.value} ${untilMs}`
  const count = useLoad(name, (signal) =>
    requestJson<Count>('/calls/query_stats', { ...question, limit: rowsMax(ROW_PX) }, { signal }),
  )
  const counted = count.isLoading ? null : count.value
  return html`<h1 class="hidden">Calls</h1>
    <${SearchBox} />
    <div class="bar">
      <b role="status">${counted === null ? '… calls' : formatCalls(counted.count, counted.has_more ? ' and more' : '')}</b>
      <${Stretch} />
      <span class="push"></span>
      <button onClick=${() => setUntil(serverNow())}>Refresh</button>
      <${ColumnPicker} />
      <${AddToQueue} project=${project} question=${question} />
      ${may('training') && html`<a class="button" href=${`${pathTo(project, 'training', 'new')}?${query.value}`}>Train on these</a>`}
      <${ExportButtons} question=${question} />
    </div>
    ${counted?.has_more && html`<p class="faint">The table ends there; the export does not.</p>`}
    <${Table} key=${`${name} ${columnNames.value}`} question=${question} count=${counted?.count ?? null} failure=${count.failure} project=${project} untilMs=${untilMs} />`
}

function Stretch() {
  const [from, to] = [query.value.get('from'), query.value.get('to')]
  if (from === null && to === null) return null
  return html`<span class="faint">
    ${from === null ? '' : `from ${formatTime(from)} `}${to === null ? '' : `to ${formatTime(to)} `}
    <button class="quiet" onClick=${() => setQuery({ from: null, to: null }, { isStep: true })}>any time</button>
  </span>`
}

function NoCalls({ project }: { readonly project: string }) {
  if (isFiltered.value) return 'No calls match the filter.'
  if (hasTimeRange.value) return 'No calls in this time.'
  return html`No calls yet. <a href=${pathTo(project)}>Home</a> shows how the first one is recorded.`
}

interface TableProps {
  readonly question: CallsQueryBody
  /** Null while it is not known. */
  readonly count: number | null
  /** The reason why it is unknown. */
  readonly failure: string | null
  readonly project: string
  /** Time up to which calls are listed. */
  readonly untilMs: number
}

function Table({ question, count, failure: uncounted, project, untilMs }: TableProps) {
  const [, redraw] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const [pages, setPages] = useState<CallPages | null>(null)
  const [shown] = useState(() => columns.value)
  const [startAt] = useState(() => {
    const left = findLastPosition()
    // A refreshed list starts at its newest row.
    return left?.untilMs === untilMs ? left.top : undefined
  })
  useLayoutEffect(() => {
    const opened = openCallPages({
      question,
      columns: shown,
      onChange: () => redraw((last) => last + 1),
      onFailure: (error) => setFailure(error === null ? null : errorText(error)),
    })
    // The first page does not wait for the count.
    opened.show(0, 1)
    setPages(opened)
    return opened.close
  }, [])
  const onWindow = useCallback(
    (first: number, last: number) => {
      if (last > first) pages?.show(first, last)
    },
    [pages],
  )
  const rows = count ?? pages?.known() ?? 0
  // Both fail for the same reason, as a rule.
  return html`<${Failure} words=${failure ?? uncounted} />
    <div class="table" style=${{ '--columns': shown.map(({ width }) => width).join(' ') }}>
      <div role="table" aria-label="Calls" aria-rowcount=${rows}>
        <${ColumnNames} columns=${shown} />
        <${WindowList}
          count=${rows}
          rowHeight=${ROW_PX}
          label="Calls"
          role="rowgroup"
          startAt=${startAt}
          onScroll=${(top: number) => saveLastPosition({ untilMs, top })}
          onWindow=${onWindow}
          renderRow=${(index: number) =>
            html`<${CallRow} key=${index} index=${index} call=${pages?.at(index)} columns=${shown} project=${project} />`}
        />
      </div>
    </div>
    ${count === 0 && html`<p class="notice"><${NoCalls} project=${project} /></p>`}`
}
