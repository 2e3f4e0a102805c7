/** The examples of several runs as a table, and one of them with the outcome of each run. */
import { html } from 'htm/preact'
import { formatCount, formatMs } from '../parts/format.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { listTextChanges } from '../parts/values/text-changes.ts'
import { WordDifference } from '../parts/values/word-difference.ts'
import { query, setQuery } from '../shell/location.ts'
import { DifferenceMark } from './compared-runs.ts'
import { type ComparedExample, countOutcomes } from './comparison.ts'
import { ExampleDetail } from './example-detail.ts'
import type { Run } from './runs.ts'
import { formatScore } from './scores.ts'

interface ComparedExamplesProps {
  readonly project: string
  readonly runs: readonly Run[]
  /** All examples. */
  readonly compared: readonly ComparedExample[]
  /** Those that pass the filter. */
  readonly shown: readonly ComparedExample[]
  /** Whether the values are milliseconds. */
  readonly isLatency: boolean
}

export function ComparedExamples(props: ComparedExamplesProps) {
  const { project, runs, compared, shown, isLatency } = props
  const format = isLatency ? formatMs : formatScore
  const chosen = compared.find(({ key }) => key === query.value.get('example'))
  const columns = [
    LEAD,
    ...runs.map((run, at) => valueColumn(run, at, format)),
    ...runs.map(outputColumn),
  ]
  return html`<ul class="tallies">
      ${runs.slice(1).map((run, at) => html`<${RunTally} key=${run.id} run=${run} tally=${countOutcomes(compared, at + 1)} />`)}
    </ul>
    <${Grid}
      label="Examples"
      columns=${columns}
      count=${shown.length}
      at=${(index: number) => shown[index]}
      isChosen=${({ key }: ComparedExample) => key === query.value.get('example')}
      onChoose=${({ key }: ComparedExample) => setQuery({ example: key }, { isStep: true })}
      rowsMax=${14}
    />
    ${shown.length === 0 && html`<p class="notice">No example is so.</p>`}
    ${
      chosen !== undefined &&
      html`<${ExampleDetail}
        key=${chosen.key}
        project=${project}
        baseline=${chosen.outcomes[0]?.callId ?? null}
        columns=${runs.flatMap((run, at) => {
          const outcome = chosen.outcomes[at]
          return outcome ? [{ name: run.shortName, callId: outcome.callId }] : []
        })}
      />`
    }`
}

interface RunTallyProps {
  readonly run: Run
  readonly tally: ReturnType<typeof countOutcomes>
}

function RunTally({ run, tally: { better, worse, same } }: RunTallyProps) {
  return html`<li>
    ${run.shortName}: <span class="good">${formatCount(better)} better</span>,
    ${' '}<span class="bad">${formatCount(worse)} worse</span>, ${formatCount(same)} the same
  </li>`
}

const LEAD: Column<ComparedExample> = {
  name: 'example',
  label: 'Example',
  width: 200,
  grow: 2,
  cell: ({ key, outcomes }) => {
    const inputs = outcomes.find((outcome) => outcome !== null)?.inputs ?? {}
    const text = Object.values(inputs).join(' · ')
    return html`<button class="quiet cut" title=${text} onClick=${() => setQuery({ example: key }, { isStep: true })}>${text === '' ? 'example' : text}</button>`
  },
}

function valueColumn(
  run: Run,
  at: number,
  format: (value: number) => string,
): Column<ComparedExample> {
  return {
    name: `value:${run.id}`,
    width: 130,
    isNumber: true,
    label: html`<span title=${run.name}>${run.shortName}</span>`,
    cell: ({ values, gains }) => {
      const [value, gain] = [values[at] ?? null, gains[at] ?? null]
      const shown = value === null ? '–' : format(value)
      // A gain is above 0 if the value is better, whether high or low scores are good.
      return gain === null
        ? shown
        : html`${shown} <${DifferenceMark} difference=${gain} isLowBetter=${false} format=${format} />`
    },
  }
}

function outputColumn(run: Run, at: number): Column<ComparedExample> {
  return {
    name: `output:${run.id}`,
    width: 150,
    grow: 1,
    label: html`<span title=${run.name}>Output of ${run.shortName}</span>`,
    cell: ({ outcomes }) => {
      const output = outcomes[at]?.output ?? 'not in this run'
      const base = at === 0 ? undefined : outcomes[0]?.output
      const words = base === undefined || base === output ? null : listTextChanges(base, output)
      return html`<span title=${output}>${words === null ? output : html`<${WordDifference} words=${words} />`}</span>`
    },
  }
}
