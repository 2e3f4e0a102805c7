/** The table of the calls of a search, of which only the visible rows are in the document. */
import { html } from 'htm/preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import type { CallsQueryBody } from '../api/wire.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { WindowList } from '../parts/tables/window-list.ts'
import { query } from '../shell/location.ts'
import { CallRow, ColumnNames, isPhone, rowPx } from './call-row.ts'
import { columns } from './columns.ts'
import { openTrace, TraceDrawer } from './drawers/trace-drawer.ts'
import { findLastPosition, saveLastPosition } from './last-position.ts'
import { type CallPages, openCallPages } from './pages.ts'
import {
  EVERYTHING,
  isEmpty,
  isSelected,
  NOTHING,
  type Selection,
  withIds,
} from './selection/selection.ts'
import { sortTerms } from './sort.ts'

/** Width of the column of checkboxes. */
const PICK_WIDTH = '18px'

interface CallTableProps {
  readonly question: CallsQueryBody
  /** Null while it is not known. */
  readonly count: number | null
  /** The reason why it is unknown. */
  readonly failure: string | null
  readonly project: string
  /** Time up to which calls are listed. */
  readonly untilMs: number
  readonly selection: Selection
  readonly onSelect: (selection: Selection) => void
}

/** Its key should change with what is listed, and how. */
export function CallTable(props: CallTableProps) {
  const { count, failure: uncounted, project, untilMs, selection, onSelect } = props
  const { pages, failure } = usePages(props.question)
  const [shown] = useState(() => columns.value)
  const [startAt] = useState(() => {
    const left = findLastPosition()
    // A refreshed list starts at its newest row.
    return left?.untilMs === untilMs ? left.top : undefined
  })
  const onWindow = useCallback(
    (first: number, last: number) => {
      if (last > first) pages?.show(first, last)
    },
    [pages],
  )
  const open = query.value.get('open')
  const openAt = open === null ? -1 : (pages?.indexOf(open) ?? -1)
  const move = useMoving(pages)
  const [unpicked, pick] = usePicking(pages, selection, onSelect)
  const rows = count ?? pages?.known() ?? 0
  const picked =
    selection.isAll && selection.ids.size === 0 ? 'all' : isEmpty(selection) ? 'none' : 'some'
  // Both fail for the same reason, as a rule.
  return html`<${Failure} words=${failure ?? uncounted ?? unpicked} />
    <div class=${`table calls ${isPhone.value ? 'phone' : ''}`} style=${{ '--columns': [PICK_WIDTH, ...shown.map(({ width }) => width)].join(' '), '--row-height': `${rowPx.value}px` }}>
      <div role="table" aria-label="Calls" aria-rowcount=${rows}>
        <${ColumnNames} columns=${shown} picked=${picked} onPickAll=${() => onSelect(picked === 'all' ? NOTHING : EVERYTHING)} />
        <${WindowList}
          count=${rows}
          rowHeight=${rowPx.value}
          label="Calls"
          role="rowgroup"
          startAt=${startAt}
          shown=${openAt}
          onScroll=${(top: number) => saveLastPosition({ untilMs, top })}
          onWindow=${onWindow}
          renderRow=${(index: number) => {
            const call = pages?.at(index)
            return html`<${CallRow}
              key=${index}
              index=${index}
              call=${call}
              columns=${shown}
              href=${addressOf(call?.id)}
              isOpen=${call !== undefined && call.id === open}
              isPicked=${call !== undefined && isSelected(selection, call.id)}
              onPick=${(isRange: boolean) => pick(index, isRange)}
            />`
          }}
        />
      </div>
    </div>
    ${count === null && rows === 0 && (failure ?? uncounted) === null && html`<${Loading} />`}
    ${open !== null && html`<${TraceDrawer} project=${project} id=${open} at=${openAt} count=${rows} onMove=${move} />`}`
}

/** The address at which the call is open over the same list. */
function addressOf(id: string | undefined): string {
  const next = new URLSearchParams(query.value)
  next.set('open', id ?? '')
  next.delete('call')
  return `${location.pathname}?${next}`
}

/** Opens the call at an index of the list in place of the one that is open. */
function useMoving(pages: CallPages | null) {
  return async (index: number) => {
    const [id] = (await pages?.readIds(index, index + 1).catch(() => [])) ?? []
    if (id !== undefined) openTrace(id, false)
  }
}

/** Opens the pages of the list for as long as the table is shown. */
function usePages(question: CallsQueryBody) {
  const [, redraw] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const [pages, setPages] = useState<CallPages | null>(null)
  useLayoutEffect(() => {
    const opened = openCallPages({
      question,
      columns: columns.value,
      sort: sortTerms(),
      onChange: () => redraw((last) => last + 1),
      onFailure: (error) => setFailure(error === null ? null : errorText(error)),
    })
    // The first page does not wait for the count.
    opened.show(0, 1)
    setPages(opened)
    return opened.close
  }, [])
  return { pages, failure }
}

/** Selects a row, or with Shift the rows since the last one. @returns why that failed, and the function */
function usePicking(
  pages: CallPages | null,
  selection: Selection,
  onSelect: (selection: Selection) => void,
) {
  const last = useRef<number | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const pick = async (index: number, isRange: boolean) => {
    const id = pages?.at(index)?.id
    if (pages === null || id === undefined) return
    const isAdded = !isSelected(selection, id)
    const from = isRange ? (last.current ?? index) : index
    last.current = index
    setFailure(null)
    try {
      const ids = await pages.readIds(Math.min(from, index), Math.max(from, index) + 1)
      onSelect(withIds(selection, ids, isAdded))
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return [failure, pick] as const
}
