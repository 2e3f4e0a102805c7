/** One call as a row of the table. */
import { html } from 'htm/preact'
import type { Status } from '../api/wire.ts'
import { shortOp } from '../parts/format.ts'
import { StatusMark } from '../parts/status.ts'
import { pathTo } from '../shell/page-route.ts'
import { type Column, cellText, showCell } from './columns.ts'
import type { ShownCall } from './pages.ts'

export function ColumnNames({ columns }: { readonly columns: readonly Column[] }) {
  return html`<div class="row head" role="row">
    ${columns.map(({ name, label, isNumber }) => html`<span key=${name} role="columnheader" class=${isNumber ? 'number' : ''} title=${label}>${label}</span>`)}
  </div>`
}

interface CallRowProps {
  readonly index: number
  readonly call: ShownCall | undefined
  readonly columns: readonly Column[]
  readonly project: string
}

export function CallRow({ index, call, columns, project }: CallRowProps) {
  if (call === undefined)
    return html`<div class="row" role="row" aria-rowindex=${index + 1}><span role="cell">…</span></div>`
  const href = pathTo(project, 'calls', call.id)
  return html`<div class="row call" role="row" aria-rowindex=${index + 1} onMouseMove=${tellAt}>
    ${columns.map((column, at) => html`<${Cell} key=${column.name} column=${column} cell=${call.cells[at] ?? null} opName=${call.opName} href=${at === 0 ? href : null} />`)}
  </div>`
}

/** The link covers the row, so it has the tooltip of the cell under the mouse. */
function tellAt({ target, clientX, clientY }: MouseEvent) {
  const cell = document.elementsFromPoint(clientX, clientY).find((at) => at.matches('[role=cell]'))
  if (target instanceof HTMLAnchorElement) target.title = cell?.getAttribute('title') ?? ''
}

interface CellProps {
  readonly column: Column
  readonly cell: string | number | null
  readonly opName: string
  /** Address of the call, in the first cell. */
  readonly href: string | null
}

function Cell({ column, cell, opName, href }: CellProps) {
  const { name, body, isNumber } = column
  const text =
    name === 'status' ? html`<${StatusMark} status=${cell as Status} />` : showCell(column, cell)
  const title = name === 'op' ? opName : cellText(column, cell)
  const kind = `${isNumber ? 'number' : ''} ${body === undefined ? '' : 'faint'}`
  const label = text === '' ? `The call of ${shortOp(opName)}` : undefined
  return html`<span role="cell" class=${kind} title=${title}>${href === null ? text : html`<a href=${href} aria-label=${label}>${text}</a>`}</span>`
}
