/** One example in full: the input, and side by side the result of each run or trial. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { type Call, membersOf } from '../api/wire.ts'
import { ChangeList } from '../objects/change-list.ts'
import { listChanges } from '../objects/value-changes.ts'
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
  /** Id of the call with which the others are compared; null or absent: none. */
  readonly baseline?: string | null
}

export function ExampleDetail({ project, columns: all, baseline = null }: ExampleDetailProps) {
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
    ${columns.map(({ name, callId }) => {
      const [before, after] = [calls.get(baseline ?? ''), calls.get(callId)]
      return (
        before &&
        after &&
        before !== after &&
        html`<${Differences} key=${callId} name=${name} before=${before} after=${after} />`
      )
    })}
  <//>`
}

interface DifferencesProps {
  readonly name: string
  readonly before: Call
  readonly after: Call
}

/** The members and words in which an output and its scores differ from those of the first run. */
function Differences({ name, before, after }: DifferencesProps) {
  const changes = useMemo(() => listChanges(resultOf(before), resultOf(after)), [before, after])
  return html`<section class="part" aria-label=${`Differences of ${name}`}>
    <h3>What differs in ${name}</h3>
    ${changes.length === 0 ? html`<p class="faint">Nothing but the latency.</p>` : html`<${ChangeList} changes=${changes} names=${['First run', name]} />`}
  </section>`
}

/** The latency differs each time. */
function resultOf({ output, exception }: Call): unknown {
  const { model_latency: _, ...result } = membersOf(output)
  return exception === null ? result : { ...result, exception }
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
