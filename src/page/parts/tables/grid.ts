/** A table of any length with columns of its own. Only the visible rows are in the document. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { WindowList } from './window-list.ts'

const ROW_PX = 32
const GAP_PX = 8
/** On both sides of a row. */
const PADDING_PX = 24

export interface Column<Row> {
  /** Unique name of the column. */
  readonly name: string
  readonly label: ComponentChildren
  /** Pixels; `grow` distributes the remaining width. */
  readonly width: number
  readonly grow?: number
  readonly isNumber?: boolean
  /** Whether it names the row, and stays in sight while a narrow table is scrolled. Default: whether it is the first. */
  readonly isName?: boolean
  /** Direction of the sort by this column; null or undefined if the rows are not sorted by it. */
  readonly sorted?: 'asc' | 'desc' | null
  readonly onSort?: () => void
  readonly cell: (row: Row, index: number) => ComponentChildren
}

interface GridProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly count: number
  /** Undefined while the row is loading. */
  readonly at: (index: number) => Row | undefined
  /** Called with the rows that are in the document. */
  readonly onWindow?: (first: number, last: number) => void
  readonly isChosen?: (row: Row) => boolean
  /** Called for a click on a row, except on its links and buttons. */
  readonly onChoose?: (row: Row) => void
  /** Limit: rows visible at the same time. */
  readonly rowsMax?: number
  /** A new value scrolls to the top. */
  readonly order?: string
}

export function Grid<Row>(props: GridProps<Row>) {
  const { label, columns, count, at, onWindow, rowsMax = 20, order } = props
  const tracks = columns.map(({ width, grow }) =>
    grow === undefined ? `${width}px` : `minmax(${width}px, ${grow}fr)`,
  )
  const minWidth = widthOf(columns) + PADDING_PX - GAP_PX
  const height = Math.max(1, Math.min(count, rowsMax)) * ROW_PX
  return html`<div class="table grid" role="table" aria-label=${label} aria-rowcount=${count} onScroll=${followScroll}>
    <div
      class="grid-inner"
      style=${{
        minWidth: `${minWidth}px`,
        '--tracks': tracks.join(' '),
        '--names-left': `${widthOf(columns.slice(0, columns.indexOf(nameOf(columns))))}px`,
        '--rows-height': `${height}px`,
      }}
    >
      <div class="row head" role="row">
        ${columns.map((column) => html`<${ColumnHead} key=${column.name} column=${column} kind=${kindOf(column, columns)} />`)}
      </div>
      <${WindowList}
        key=${order}
        count=${count}
        rowHeight=${ROW_PX}
        label=${label}
        role="rowgroup"
        onWindow=${onWindow}
        renderRow=${(index: number) =>
          html`<${GridRow} key=${index} index=${index} row=${at(index)} grid=${props} />`}
      />
    </div>
  </div>`
}

/** Rows scroll in an element of their own, in which nothing sticks to the edge of the table. */
function followScroll({ currentTarget }: Event): void {
  const { scrollLeft, style } = currentTarget as HTMLElement
  style.setProperty('--scrolled', `${scrollLeft}px`)
}

/** The column that names the rows. */
function nameOf<Row>(columns: readonly Column<Row>[]): Column<Row> {
  return columns.find(({ isName }) => isName) ?? (columns[0] as Column<Row>)
}

/** Pixels of columns with the gaps behind them. */
function widthOf<Row>(columns: readonly Column<Row>[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP_PX, 0)
}

/** The classes of the cells of a column. */
function kindOf<Row>(column: Column<Row>, columns: readonly Column<Row>[]): string {
  return `${column.isNumber ? 'number' : ''} ${column === nameOf(columns) ? 'names' : ''}`
}

interface ColumnHeadProps<Row> {
  readonly column: Column<Row>
  readonly kind: string
}

function ColumnHead<Row>({ column, kind }: ColumnHeadProps<Row>) {
  const { label, sorted, onSort } = column
  const order = sorted === 'asc' ? 'ascending' : 'descending'
  const mark = sorted === 'asc' ? ' ↑' : ' ↓'
  return html`<span
    role="columnheader"
    class=${kind}
    title=${typeof label === 'string' ? label : undefined}
    aria-sort=${sorted ? order : undefined}
  >${onSort === undefined ? label : html`<button class="sort" onClick=${onSort}><span class="cut">${label}</span>${sorted && html`<span>${mark}</span>`}</button>`}</span>`
}

interface GridRowProps<Row> {
  readonly index: number
  readonly row: Row | undefined
  readonly grid: GridProps<Row>
}

function GridRow<Row>({ index, row, grid }: GridRowProps<Row>) {
  const { columns, isChosen, onChoose } = grid
  if (row === undefined)
    return html`<div class="row" role="row" aria-rowindex=${index + 1}><span role="cell">…</span></div>`
  const choose = (event: Event) => {
    if (!(event.target as Element).closest('a, button, input, label')) onChoose?.(row)
  }
  return html`<div
    class=${onChoose === undefined ? 'row' : 'row choosable'}
    role="row"
    aria-rowindex=${index + 1}
    aria-current=${isChosen?.(row) ? 'true' : undefined}
    onClick=${onChoose === undefined ? undefined : choose}
  >
    ${columns.map((column) => html`<${Cell} key=${column.name} column=${column} kind=${kindOf(column, columns)} content=${column.cell(row, index)} />`)}
  </div>`
}

interface CellProps {
  readonly column: Column<never>
  readonly kind: string
  readonly content: ComponentChildren
}

/** A text that may be cut has itself as its title; elements bring their own. */
function Cell({ column, kind, content }: CellProps) {
  const title = typeof content === 'string' && !column.isNumber ? content : undefined
  return html`<span role="cell" class=${kind} title=${title}>${content}</span>`
}
