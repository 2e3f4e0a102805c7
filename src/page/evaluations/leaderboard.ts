/** A published leaderboard: models by the scores that it names, each from the newest run of the model. */
import { html } from 'htm/preact'
import { requestJson } from '../api/client.ts'
import { formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Pending } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { rankColumn } from '../parts/tables/rank-column.ts'
import { ranksByNumber, sortByNumber } from '../parts/tables/sort-rows.ts'
import { parseRef } from '../parts/values/refs.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, pathToVersion, type ViewProps } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { measureColumn, Subject } from './run-columns.ts'
import { type Run, readRuns } from './runs.ts'
import { formatScore, isBetterLow, numberOf, type Score } from './scores.ts'

/** Limit: columns of a leaderboard. */
const COLUMNS_MAX = 20

interface BoardColumn {
  readonly evaluation_object_ref: string
  readonly scorer_name: string
  readonly summary_metric_path: string
  readonly should_minimize?: boolean | null
}

interface Board {
  readonly name?: string
  readonly description?: string | null
  readonly columns?: readonly BoardColumn[]
}

/** A model with, for each column, its newest run that has the score. */
interface Rank {
  readonly model: unknown
  readonly runs: readonly (Run | null)[]
  readonly newest: Run
}

export function Leaderboard({ project, subject }: ViewProps) {
  const name = subject ?? ''
  const loaded = useLoad(`${project} ${name}`, (signal) => readBoard(project, name, signal))
  const title = loaded.value?.board.name ?? name
  useSubjectName(name, loaded.isLoading, loaded.value?.board.name)
  if (loaded.value === null) return html`<${Pending} title=${title} loaded=${loaded} />`
  const { board, columns, runs } = loaded.value
  const order = query.value.get('by') ?? '0'
  const { places, ranks } = placesInOrder(placesOf(columns, runs), columns, order)
  return html`<h1>${title}</h1>
    ${board.description && html`<p class="text">${board.description}</p>`}
    <p class="faint">Each model by its newest run. <a href=${pathToVersion(project, name, 'latest')}>The leaderboard as an object</a></p>
    <${Grid}
      label="Leaderboard"
      columns=${gridColumns(project, columns, ranks, order)}
      count=${places.length}
      at=${(index: number) => places[index]}
    />
    ${places.length === 0 && html`<p class="notice">No runs of its evaluations yet.</p>`}`
}

async function readBoard(project_id: string, object_id: string, signal: AbortSignal) {
  const body = { project_id, object_id, digest: 'latest' }
  const { obj } = await requestJson<{ obj: { val: Board } }>('/obj/read', body, { signal })
  const columns = Array.isArray(obj.val.columns) ? obj.val.columns.slice(0, COLUMNS_MAX) : []
  const runs = new Map<string, readonly Run[]>()
  for (const evaluation of new Set(columns.map((column) => column.evaluation_object_ref)))
    runs.set(evaluation, (await readRuns(project_id, [evaluation], signal)).runs)
  return { board: obj.val, columns, runs }
}

function placesOf(
  columns: readonly BoardColumn[],
  runs: ReadonlyMap<string, readonly Run[]>,
): readonly Rank[] {
  const byModel = Map.groupBy([...runs.values()].flat(), ({ model }) => JSON.stringify(model))
  return [...byModel.values()].flatMap((own): Rank[] => {
    const [newest] = own
    if (newest === undefined) return []
    const found = columns.map(
      (column) =>
        own.find(
          (run) => run.evaluation === column.evaluation_object_ref && scoreIn(run, column) !== null,
        ) ?? null,
    )
    return [{ model: newest.model, runs: found, newest }]
  })
}

function scoreIn(run: Run, column: BoardColumn): Score | null {
  return run.scores[scoreName(column)] ?? null
}

/** The name of the score in runs, without the way it was summed up. */
function scoreName({ scorer_name, summary_metric_path }: BoardColumn): string {
  const path = summary_metric_path === '' ? scorer_name : `${scorer_name}.${summary_metric_path}`
  return path.replace(/\.(?:mean|true_fraction)$/, '')
}

const isLow = (column: BoardColumn) => column.should_minimize ?? isBetterLow(scoreName(column))

/** @param order - index of a column; a leading `-` lists the worst first and keeps the ranks */
function placesInOrder(
  places: readonly Rank[],
  columns: readonly BoardColumn[],
  order: string,
): { readonly places: readonly Rank[]; readonly ranks: ReadonlyMap<Rank, number> } {
  const at = Number(order.replace(/^-/, ''))
  const column = columns[at]
  if (column === undefined) return { places, ranks: new Map() }
  const [best, worst] = isLow(column) ? (['asc', 'desc'] as const) : (['desc', 'asc'] as const)
  const numberIn = ({ runs }: Rank) => numberOf(runs[at]?.scores[scoreName(column)])
  return {
    places: sortByNumber(places, order.startsWith('-') ? worst : best, numberIn),
    ranks: ranksByNumber(places, best, numberIn),
  }
}

function gridColumns(
  project: string,
  columns: readonly BoardColumn[],
  ranks: ReadonlyMap<Rank, number>,
  order: string,
): readonly Column<Rank>[] {
  return [
    rankColumn(ranks),
    {
      name: 'model',
      isName: true,
      label: 'Model',
      width: 160,
      grow: 2,
      cell: ({ model }) => html`<${Subject} value=${model} />`,
    },
    ...columns.map((column, at) => boardColumn(project, column, at, order)),
    ...['latency', 'tokens', 'cost'].map((name): Column<Rank> => {
      const { cell, label, width } = measureColumn(name, '')
      return { name, label, width, isNumber: true, cell: ({ newest }, at) => cell(newest, at) }
    }),
    {
      name: 'started',
      label: 'Newest run',
      width: 150,
      cell: ({ newest }) =>
        html`<a href=${pathTo(project, 'evaluations', newest.id)}>${formatTime(newest.started_at, false)}</a>`,
    },
  ]
}

function boardColumn(
  project: string,
  column: BoardColumn,
  at: number,
  order: string,
): Column<Rank> {
  const evaluation = parseRef(column.evaluation_object_ref)?.name ?? ''
  const isBest = order === String(at)
  const isWorst = order === `-${at}`
  return {
    name: `column:${at}`,
    width: 140,
    grow: 1,
    isNumber: true,
    label: html`<span title=${evaluation}>${scoreName(column)}</span>`,
    sorted: isBest || isWorst ? (isBest === isLow(column) ? 'asc' : 'desc') : null,
    onSort: () => setQuery({ by: isBest ? `-${at}` : String(at) }),
    cell: ({ runs }) => {
      const run = runs[at]
      if (!run) return '–'
      return html`<a href=${pathTo(project, 'evaluations', run.id)}>${formatScore(scoreIn(run, column))}</a>`
    },
  }
}
