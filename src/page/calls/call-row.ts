/** One call as a row of the table. */
import { computed, signal } from '@preact/signals'
import { html } from 'htm/preact'
import type { Status } from '../api/wire.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { formatTime, shortOp } from '../parts/format.ts'
import { icon } from '../parts/icon.ts'
import { type Column, cellText, columns, showCell } from './columns.ts'
import { openTrace } from './drawers/trace-drawer.ts'
import type { ShownCall } from './pages.ts'
import { isSortable, sort, sortBy } from './sort.ts'

const phone = matchMedia('(max-width: 600px)')
/** Whether a row has lines in place of columns. */
export const isPhone = signal(phone.matches)
phone.addEventListener('change', ({ matches }) => {
  isPhone.value = matches
})

/** Height of a row in pixels. */
export const rowPx = computed(() => {
  if (!isPhone.value) return 34
  return columns.value.some(({ body }) => body !== undefined) ? 78 : 58
})

/** Columns of the first line, in this order. The second has those without a body, the third the others. */
const FIRST_LINE = ['status', 'op', 'started']

interface ColumnNamesProps {
  readonly columns: readonly Column[]
  /** Null if nothing can be selected. */
  readonly picked: 'all' | 'some' | 'none'
  readonly onPickAll: () => void
}

export function ColumnNames({ columns, picked, onPickAll }: ColumnNamesProps) {
  return html`<div class="row head" role="row">
    <span role="columnheader" aria-colindex="1" class="pick">
      <input
        type="checkbox"
        aria-label="Select all calls of the search"
        checked=${picked === 'all'}
        indeterminate=${picked === 'some'}
        onChange=${onPickAll}
      />
    </span>
    ${columns.map((column, at) => html`<${ColumnName} key=${column.name} column=${column} at=${at} />`)}
  </div>`
}

interface ColumnNameProps {
  readonly column: Column
  /** Its index. */
  readonly at: number
}

function ColumnName({ column, at }: ColumnNameProps) {
  const { name, label, isNumber } = column
  const kind = isNumber ? 'number' : ''
  if (!isSortable(column))
    return html`<span role="columnheader" aria-colindex=${at + 2} class=${kind} title=${label}>${label}</span>`
  const direction = sort.value.column === name ? sort.value.direction : null
  const order = direction === 'asc' ? 'ascending' : 'descending'
  return html`<span role="columnheader" aria-colindex=${at + 2} class=${kind} aria-sort=${direction === null ? 'none' : order}>
    <button class="sort" title=${`Sort by ${label}`} onClick=${() => sortBy(column)}><span class="cut">${label}</span>${direction !== null && icon(direction === 'asc' ? 'arrow-up' : 'arrow-down')}</button>
  </span>`
}

interface CallRowProps {
  readonly index: number
  readonly call: ShownCall | undefined
  readonly columns: readonly Column[]
  /** Address that opens the call. */
  readonly href: string
  readonly isPicked: boolean
  /** Whether the call is open beside the list. */
  readonly isOpen: boolean
  /** Called with whether the rows since the last change are meant, too. */
  readonly onPick: (isRange: boolean) => void
}

export function CallRow(props: CallRowProps) {
  const { index, call, columns, href, isPicked, isOpen, onPick } = props
  if (call === undefined)
    return html`<div class="row" role="row" aria-rowindex=${index + 1}><span role="cell"></span><span role="cell">…</span></div>`
  const cellAt = (at: number) =>
    html`<${Cell} key=${at} at=${at} column=${columns[at]} cell=${call.cells[at] ?? null} opName=${call.opName} href=${at === 0 ? href : null} />`
  return html`<div class="row call" role="row" aria-rowindex=${index + 1} aria-selected=${isPicked} aria-current=${isOpen ? 'true' : undefined} onMouseMove=${setTitleAt} onClick=${openCall}>
    <span role="cell" aria-colindex="1" class="pick">
      <input
        type="checkbox"
        aria-label=${`Select ${shortOp(call.opName)} ${index + 1}`}
        checked=${isPicked}
        onClick=${(event: MouseEvent) => onPick(event.shiftKey)}
      />
    </span>
    ${isPhone.value ? linesOf(columns).map((line, at) => html`<span key=${at} class="line">${line.map(cellAt)}</span>`) : [...columns.keys()].map(cellAt)}
  </div>`
}

/** The indices of the columns in each line of a row on a phone. */
function linesOf(columns: readonly Column[]): number[][] {
  const hasBody = (index: number) => columns[index]?.body !== undefined
  const first = FIRST_LINE.map((name) => columns.findIndex((column) => column.name === name))
  const others = [...columns.keys()].filter((index) => !first.includes(index))
  return [
    first.filter((index) => index >= 0),
    others.filter((index) => !hasBody(index)),
    others.filter(hasBody),
  ].filter(({ length }) => length > 0)
}

/** Opens the call over the list, without the scroll to the top that other links have. */
function openCall(event: MouseEvent) {
  const link = (event.target as Element).closest('a')
  if (link === null || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  openTrace(new URL(link.href).searchParams.get('open'), true)
}

/** The link covers the row, so it has the tooltip of the cell under the mouse. */
function setTitleAt({ target, clientX, clientY }: MouseEvent) {
  const cell = document.elementsFromPoint(clientX, clientY).find((at) => at.matches('[role=cell]'))
  if (target instanceof HTMLAnchorElement) target.title = cell?.getAttribute('title') ?? ''
}

interface CellProps {
  readonly column: Column
  readonly cell: string | number | null
  /** Index of the column. */
  readonly at: number
  readonly opName: string
  /** Address of the call, in the first cell. */
  readonly href: string | null
}

function Cell({ column, at, cell, opName, href }: CellProps) {
  const { name, body, isNumber } = column
  const text =
    name === 'status'
      ? html`<${StatusMark} status=${cell as Status} />`
      : name === 'tags' && cell
        ? String(cell)
            .split(', ')
            .map((tag) => html`<span key=${tag} class="tag">${tag}</span>`)
        : isPhone.value
          ? showOnPhone(column, cell)
          : showCell(column, cell)
  const title = name === 'op' ? opName : cellText(column, cell)
  const kind = `${isNumber ? 'number' : ''} ${body === undefined ? '' : 'faint'}`
  const label = text === '' ? `The call of ${shortOp(opName)}` : undefined
  return html`<span role="cell" aria-colindex=${at + 2} data-column=${name} class=${kind} title=${title}>${href === null ? text : html`<a href=${href} aria-label=${label}>${text}</a>`}</span>`
}

/** The text of a cell without its column's name: a time without its year, and tokens with their unit. */
function showOnPhone(column: Column, cell: string | number | null): string {
  if (column.name === 'started') return formatTime(String(cell), false).slice(5)
  const text = showCell(column, cell)
  return column.name === 'tokens' && text !== '' ? `${text} tokens` : text
}
