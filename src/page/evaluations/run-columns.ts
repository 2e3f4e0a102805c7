/** The columns of tables of runs, and how runs are sorted by them. */
import { html } from 'htm/preact'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime } from '../parts/format.ts'
import type { Column } from '../parts/tables/grid.ts'
import { ranksByNumber, sortByNumber } from '../parts/tables/sort-rows.ts'
import { RefLink } from '../parts/values/ref-link.ts'
import { setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { type Run, subjectLabel } from './runs.ts'
import { formatScore, isBetterLow, isNeutral, numberOf } from './scores.ts'

/** Prefix of the names of score columns. */
const SCORE = 'score:'
/** Limit: scores with a column of their own. */
const SCORES_MAX = 40

/** Sortable columns besides the scores. */
const MEASURES: Readonly<Record<string, Measure>> = {
  latency: { label: 'Latency', width: 84, numberIn: (run) => run.latencyMs, format: formatMs },
  model_latency: {
    label: 'Model latency',
    width: 96,
    numberIn: (run) => run.modelLatencyMs,
    format: formatMs,
  },
  tokens: { label: 'Tokens', width: 84, numberIn: (run) => run.tokens, format: formatCount },
  cost: { label: 'Cost', width: 84, numberIn: (run) => run.cost, format: formatCost },
}

interface Measure {
  readonly label: string
  readonly width: number
  readonly numberIn: (run: Run) => number | null
  readonly format: Format
}
type Format = (value: number | null) => string

/**
 * The runs by a column: a measure, or `score:` and the name of a score. The best come first, and those without a value last.
 *
 * @param order - the name of a column, a leading `-` lists the worst first; '' keeps the order
 */
export function sortRuns(runs: readonly Run[], order: string): readonly Run[] {
  const name = order.replace(/^-/, '')
  if (name === '') return runs
  const isLowFirst = isBetterLow(name) !== order.startsWith('-')
  return sortByNumber(runs, isLowFirst ? 'asc' : 'desc', valueBy(name))
}

/** The default order of a leaderboard: by the first score of which one direction is better. */
export function firstOrder(scores: readonly string[]): string {
  const first = scores.find((name) => !isNeutral(name))
  return first === undefined ? '' : `${SCORE}${first}`
}

/** Ranks by the ordered column, 1 for the best in either direction; none if neither direction is better. */
export function rankRuns(runs: readonly Run[], order: string): ReadonlyMap<Run, number> {
  const name = order.replace(/^-/, '')
  if (name.startsWith(SCORE) && isNeutral(name.slice(SCORE.length))) return new Map()
  return ranksByNumber(runs, isBetterLow(name) ? 'asc' : 'desc', valueBy(name))
}

function valueBy(name: string): (run: Run) => number | null {
  if (!name.startsWith(SCORE)) return MEASURES[name]?.numberIn ?? (() => null)
  const score = name.slice(SCORE.length)
  return ({ scores }) => numberOf(scores[score])
}

interface RunColumnsOptions {
  readonly project: string
  readonly scores: readonly string[]
  readonly order: string
}

/** @param isChosen - state of the checkbox of each run; `onToggle` changes it */
export function runColumns(
  { project, scores, order }: RunColumnsOptions,
  isChosen: (run: Run) => boolean,
  onToggle: (run: Run) => void,
): readonly Column<Run>[] {
  return [
    {
      name: 'choose',
      label: html`<span class="hidden">Compare</span>`,
      width: 24,
      cell: (run) =>
        html`<input type="checkbox" aria-label=${`Compare ${run.name}`} checked=${isChosen(run)} onChange=${() => onToggle(run)} />`,
    },
    {
      name: 'run',
      isName: true,
      label: 'Run',
      width: 150,
      grow: 1,
      cell: (run) =>
        html`<a title=${run.name} href=${pathTo(project, 'evaluations', run.id)}>${run.shortName}</a>`,
    },
    {
      name: 'model',
      label: 'Model',
      width: 138,
      grow: 1,
      cell: ({ model }) => html`<${Subject} value=${model} />`,
    },
    {
      name: 'status',
      label: 'Status',
      width: 60,
      cell: ({ status }) => html`<${StatusMark} status=${status} />`,
    },
    ...scores.slice(0, SCORES_MAX).map((name) => scoreColumn(name, order)),
    ...Object.keys(MEASURES).map((name) => measureColumn(name, order)),
    {
      name: 'evaluation',
      label: 'Evaluation',
      width: 128,
      grow: 1,
      cell: ({ evaluation }) => html`<${Subject} value=${evaluation} />`,
    },
    {
      name: 'started',
      label: 'Started',
      width: 144,
      cell: ({ started_at }) => formatTime(started_at, false),
    },
  ]
}

/** A ref as a link, or the text of another value. */
export function Subject({ value }: { readonly value: unknown }) {
  return html`<${RefLink} value=${typeof value === 'string' ? value : subjectLabel(value)} />`
}

function scoreColumn(name: string, order: string): Column<Run> {
  return {
    name: `${SCORE}${name}`,
    label: name,
    width: 96,
    isNumber: true,
    ...sorting(`${SCORE}${name}`, order),
    cell: ({ scores }) => formatScore(scores[name]),
  }
}

export function measureColumn(name: string, order: string): Column<Run> {
  const measure = MEASURES[name]
  return {
    name,
    label: measure?.label ?? name,
    width: measure?.width ?? 96,
    isNumber: true,
    ...sorting(name, order),
    cell: (run) => measure?.format(measure.numberIn(run)) ?? '',
  }
}

/** Cycles through best first, worst first and the original order. */
function sorting(name: string, order: string): Pick<Column<Run>, 'sorted' | 'onSort'> {
  const isBest = order === name
  const isWorst = order === `-${name}`
  const next = isBest ? `-${name}` : isWorst ? null : name
  const sorted = isBest || isWorst ? (isBest === isBetterLow(name) ? 'asc' : 'desc') : null
  return { sorted, onSort: () => setQuery({ sort: next }) }
}
