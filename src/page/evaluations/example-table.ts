/** The examples of a run as a table: input, output of the model, and scores. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCount, formatMs } from '../parts/format.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { sortByNumber } from '../parts/tables/sort-rows.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import type { Example } from './example.ts'
import { formatScore, namesOf, numberOf, type Score } from './scores.ts'

/** Limits: members of the examples and scores with a column of their own. */
const INPUTS_MAX = 6
const SCORES_MAX = 40

interface ExampleTableProps {
  readonly project: string
  readonly examples: readonly Example[]
}

export function ExampleTable({ project, examples }: ExampleTableProps) {
  const text = query.value.get('find') ?? ''
  const order = query.value.get('by') ?? ''
  const scores = useMemo(() => namesOf(examples.map((example) => example.scores)), [examples])
  const inputs = useMemo(
    () => [...new Set(examples.flatMap((example) => Object.keys(example.inputs)))],
    [examples],
  )
  const shown = useMemo(
    () =>
      sortExamples(
        examples.filter((example) => hasText(example, text)),
        order,
      ),
    [examples, text, order],
  )
  const columns = [
    ...leadColumns(project),
    ...inputs.slice(0, INPUTS_MAX).map(inputColumn),
    outputColumn,
    ...scores.slice(0, SCORES_MAX).map((name) => scoreColumn(name, order)),
    latencyColumn(order),
  ]
  return html`<div class="bar filters">
      <b role="status">${formatCount(shown.length)} ${shown.length === 1 ? 'example' : 'examples'}</b>
      <label>Text in the example or the output<input
        type="search"
        value=${text}
        onInput=${(event: InputEvent) => setQuery({ find: (event.target as HTMLInputElement).value })}
      /></label>
    </div>
    <${Grid}
      label="Examples"
      columns=${columns}
      count=${shown.length}
      at=${(index: number) => shown[index]}
      isChosen=${({ key }: Example) => key === query.value.get('example')}
      onChoose=${({ key }: Example) => setQuery({ example: key }, { isStep: true })}
      rowsMax=${16}
    />`
}

function hasText({ inputs, output }: Example, text: string): boolean {
  const wanted = text.toLowerCase()
  return [...Object.values(inputs), output].some((value) => value.toLowerCase().includes(wanted))
}

function sortExamples(examples: readonly Example[], order: string): readonly Example[] {
  const name = order.replace(/^-/, '')
  if (name === '') return examples
  const direction = order.startsWith('-') ? 'desc' : 'asc'
  return sortByNumber(examples, direction, ({ latencyMs, scores }) =>
    name === 'latency' ? latencyMs : numberOf(scores[name.slice('score:'.length)]),
  )
}

/** Cycles through ascending, descending and the order in which they were run. */
function sorting(name: string, order: string): Pick<Column<Example>, 'sorted' | 'onSort'> {
  const next = order === name ? `-${name}` : order === `-${name}` ? null : name
  const sorted = order === name ? 'asc' : order === `-${name}` ? 'desc' : null
  return { sorted, onSort: () => setQuery({ by: next }) }
}

function leadColumns(project: string): readonly Column<Example>[] {
  return [
    {
      name: 'open',
      label: 'Example',
      width: 64,
      cell: ({ key }, index) =>
        html`<button class="quiet" title="Show it whole" onClick=${() => setQuery({ example: key }, { isStep: true })}>${formatCount(index + 1)}</button>`,
    },
    {
      name: 'call',
      label: 'Call',
      width: 70,
      cell: ({ callId, status }) =>
        html`<a href=${pathTo(project, 'calls', callId)}><${StatusMark} status=${status} /></a>`,
    },
  ]
}

function inputColumn(name: string): Column<Example> {
  return {
    name: `input:${name}`,
    label: name,
    width: 140,
    grow: 1,
    cell: ({ inputs }) => html`<span title=${inputs[name]}>${inputs[name]}</span>`,
  }
}

const outputColumn: Column<Example> = {
  name: 'output',
  label: 'Output',
  width: 160,
  grow: 2,
  cell: ({ output }) => html`<span title=${output}>${output}</span>`,
}

function scoreColumn(name: string, order: string): Column<Example> {
  return {
    name: `score:${name}`,
    label: name,
    width: 96,
    isNumber: true,
    ...sorting(`score:${name}`, order),
    cell: ({ scores }) => html`<${ScoreValue} score=${scores[name]} />`,
  }
}

function latencyColumn(order: string): Column<Example> {
  return {
    name: 'latency',
    label: 'Latency',
    width: 80,
    isNumber: true,
    ...sorting('latency', order),
    cell: ({ latencyMs }) => formatMs(latencyMs),
  }
}

function ScoreValue({ score }: { readonly score: Score | undefined }) {
  const kind = typeof score === 'boolean' ? (score ? 'good' : 'bad') : ''
  return html`<span class=${kind}>${formatScore(score)}</span>`
}
