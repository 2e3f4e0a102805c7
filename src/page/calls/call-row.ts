/** One call as a row of the table. */
import { html } from 'htm/preact'
import type { Status } from '../api/wire.ts'
import { StatusMark } from '../parts/status.ts'
import { pathTo } from '../shell/place.ts'
import { type Column, showCell, tellCell } from './columns.ts'
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
  return html`<a class="row" role="row" aria-rowindex=${index + 1} href=${pathTo(project, 'calls', call.id)}>
    ${columns.map((column, at) => html`<${Cell} key=${column.name} column=${column} cell=${call.cells[at] ?? null} opName=${call.opName} />`)}
  </a>`
}

interface CellProps {
  readonly column: Column
  readonly cell: string | number | null
  readonly opName: string
}

function Cell({ column, cell, opName }: CellProps) {
  const { name, body, isNumber } = column
  if (name === 'status')
    return html`<span role="cell"><${StatusMark} status=${cell as Status} /></span>`
  const text = showCell(column, cell)
  const title = name === 'op' ? opName : tellCell(column, cell)
  const kind = `${isNumber ? 'number' : ''} ${body === undefined ? '' : 'faint'}`
  return html`<span role="cell" class=${kind} title=${title}>${text}</span>`
}
