/** One call as a row of the table. */
import { html } from 'htm/preact'
import { type Call, factsOf, usageOf } from '../api/wire.ts'
import { formatCost, formatCount, formatMs, formatTime, preview, shortOp } from '../parts/format.ts'
import { StatusMark } from '../parts/status.ts'
import { pathTo } from '../shell/place.ts'

const COLUMNS = ['Started', 'Operation', 'Status', 'Latency', 'Tokens', 'Cost', 'Inputs', 'Output']
const NUMBERS = ['Latency', 'Tokens', 'Cost']

export function ColumnNames() {
  return html`<div class="row head" role="row">
    ${COLUMNS.map((name) => html`<span key=${name} role="columnheader" class=${NUMBERS.includes(name) ? 'number' : ''}>${name}</span>`)}
  </div>`
}

export interface CallRowProps {
  readonly index: number
  readonly call: Call | undefined
  readonly project: string
}

export function CallRow({ index, call, project }: CallRowProps) {
  if (call === undefined)
    return html`<div class="row" role="row" aria-rowindex=${index + 1}><span>…</span></div>`
  const { status, latency_ms } = factsOf(call)
  const { tokens, cost, models } = usageOf(call)
  return html`<a class="row" role="row" aria-rowindex=${index + 1} href=${pathTo(project, 'calls', call.id)}>
    <span role="cell">${formatTime(call.started_at)}</span>
    <span role="cell" title=${call.op_name}>${call.display_name ?? shortOp(call.op_name)}</span>
    <span role="cell"><${StatusMark} status=${status} /></span>
    <span role="cell" class="number">${formatMs(latency_ms)}</span>
    <span role="cell" class="number" title=${models.join(', ')}>${formatCount(tokens)}</span>
    <span role="cell" class="number">${formatCost(cost)}</span>
    <span role="cell" class="faint">${preview(call.inputs)}</span>
    <span role="cell" class="faint">${call.exception ?? preview(call.output)}</span>
  </a>`
}
