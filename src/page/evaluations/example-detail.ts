/** One example in full: the input, and side by side the result of each run or trial. */
import { html } from 'htm/preact'
import type { Call } from '../api/wire.ts'
import { Exception } from '../parts/calls/exception.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { RowPanel } from '../parts/tables/row-panel.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import { setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { exampleIn, readExampleCalls } from './examples.ts'

/** Limit: calls of one example side by side. */
const COLUMNS_MAX = 20

interface ExampleColumn {
  readonly name: string
  readonly callId: string
}

interface ExampleDetailProps {
  readonly project: string
  readonly columns: readonly ExampleColumn[]
}

export function ExampleDetail({ project, columns: all }: ExampleDetailProps) {
  const columns = all.slice(0, COLUMNS_MAX)
  const ids = columns.map(({ callId }) => callId)
  const loaded = useLoad(`${project} ${ids}`, (signal) => readExampleCalls(project, ids, signal))
  const calls = new Map(loaded.value?.map((call) => [call.id, call]))
  const [first] = calls.values()
  return html`<${RowPanel} label="Example" title="Example" onClose=${() => setQuery({ example: null }, { isStep: true })}>
    <${Failure} words=${loaded.failure} />
    ${loaded.value === null && loaded.isLoading && html`<${Loading} />`}
    ${first !== undefined && html`<${JsonTree} value=${exampleIn(first)} />`}
    <div class="side-by-side">
      ${columns.map((column) => html`<${Outcome} key=${column.callId} project=${project} column=${column} call=${calls.get(column.callId)} isAlone=${columns.length === 1} />`)}
    </div>
  <//>`
}

interface OutcomeProps {
  readonly project: string
  readonly column: ExampleColumn
  readonly call: Call | undefined
  readonly isAlone: boolean
}

function Outcome({ project, column: { name, callId }, call, isAlone }: OutcomeProps) {
  return html`<div class="outcome">
    <h3>${isAlone ? 'Outcome' : name} <a href=${pathTo(project, 'calls', callId)}>the call</a></h3>
    <${Exception} text=${call?.exception ?? null} />
    ${call !== undefined && html`<${JsonTree} value=${call.output ?? null} depth=${0} />`}
  </div>`
}
