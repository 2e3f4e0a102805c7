/** The evaluation runs of a project: all as a list, or the newest run of each model ranked by a score. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { Grid } from '../parts/tables/grid.ts'
import { rankColumn } from '../parts/tables/rank-column.ts'
import { parseRef } from '../parts/values/refs.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { FirstEvaluation } from './first-evaluation.ts'
import { firstOrder, rankRuns, runColumns, sortRuns } from './run-columns.ts'
import { idsInAddress, textOfIds } from './run-ids.ts'
import { RUNS_MAX, type Run, readRuns, subjectLabel } from './runs.ts'
import { namesOf } from './scores.ts'

/** Limit: runs side by side. */
export const COMPARED_MAX = 5

export function Evaluations({ project }: ViewProps) {
  const evaluation = query.value.get('evaluation') ?? ''
  const loaded = useLoad(`${project} ${evaluation}`, (signal) =>
    readRuns(project, evaluation === '' ? [] : [evaluation], signal),
  )
  if (loaded.value === null) return html`<${Pending} title="Evaluations" loaded=${loaded} />`
  const { runs, count } = loaded.value
  if (count === 0 && evaluation === '')
    return html`<h1>Evaluations</h1><div class="bar"><${RunOne} project=${project} /></div><${FirstEvaluation} project=${project} />`
  return html`<h1>Evaluations</h1>
    <${Failure} words=${loaded.failure} />
    <${Choices} project=${project} runs=${runs} evaluation=${evaluation} />
    ${count > RUNS_MAX && html`<p class="notice">These are the newest ${formatCount(RUNS_MAX)} of ${formatCount(count)} runs.</p>`}
    <${RunGrid} project=${project} runs=${runs} />
    ${count === 0 && html`<p class="notice">No runs of this evaluation yet.</p>`}`
}

function RunOne({ project }: { readonly project: string }) {
  return html`<a class="button" href=${pathTo(project, 'evaluations', 'new')}>Run an evaluation</a>`
}

const isBoard = () => query.value.get('board') === '1'

interface ChoicesProps {
  readonly project: string
  readonly runs: readonly Run[]
  readonly evaluation: string
}

function Choices({ project, runs, evaluation }: ChoicesProps) {
  const ids = idsInAddress()
  const canCompare = ids.length >= 2 && ids.length <= COMPARED_MAX
  const address = `${pathTo(project, 'evaluations', 'compare')}?${new URLSearchParams({ runs: textOfIds(ids) })}`
  const change = (event: Event) =>
    setQuery(
      { evaluation: (event.target as HTMLSelectElement).value, runs: null },
      { isStep: true },
    )
  return html`<div class="bar filters">
    <label>Evaluation
      <select value=${evaluation} onChange=${change}>
        <option value="">all</option>
        ${evaluationChoices(runs, evaluation).map(([ref, words]) => html`<option key=${ref} value=${ref}>${words}</option>`)}
      </select>
    </label>
    <label class="check">
      <input type="checkbox" checked=${isBoard()} onChange=${() => setQuery({ board: isBoard() ? null : '1' }, { isStep: true })} />
      Leaderboard: the newest run of each model
    </label>
    <span class="push"></span>
    <${RunOne} project=${project} />
    ${ids.length > 0 && html`<button class="quiet" onClick=${() => setQuery({ runs: null })}>clear selection</button>`}
    ${
      canCompare
        ? html`<a class="button main" href=${address}>Compare ${ids.length} runs</a>`
        : html`<span class="faint">${ids.length > COMPARED_MAX ? `Choose ${COMPARED_MAX} runs at most.` : 'Choose two to five runs to compare them.'}</span>`
    }
  </div>`
}

/** The choices of the filter: all versions of an evaluation together, and each version if there are several. */
function evaluationChoices(runs: readonly Run[], chosen: string): readonly [string, string][] {
  const versions = new Map<string, Set<string>>()
  for (const value of [...runs.map(({ evaluation }) => evaluation), chosen]) {
    const ref = parseRef(value)
    if (ref === null || typeof value !== 'string') continue
    const all = `${value.slice(0, value.lastIndexOf(':'))}:*`
    const known = versions.get(all) ?? new Set()
    if (ref.digest !== '*') known.add(value)
    versions.set(all, known)
  }
  return [...versions].flatMap(([all, known]): [string, string][] => {
    const name = parseRef(all)?.name ?? all
    if (known.size < 2 && !known.has(chosen)) return [[all, name]]
    return [
      [all, `${name}, all versions`],
      ...[...known].map((ref): [string, string] => [ref, subjectLabel(ref)]),
    ]
  })
}

function RunGrid({ project, runs }: { readonly project: string; readonly runs: readonly Run[] }) {
  const board = isBoard()
  const scores = useMemo(() => namesOf(runs.map((run) => run.scores)), [runs])
  const order = query.value.get('sort') ?? (board ? firstOrder(scores) : '')
  const { shown, ranks } = useMemo(() => {
    const listed = board ? newestOfModels(runs) : runs
    return { shown: sortRuns(listed, order), ranks: rankRuns(listed, order) }
  }, [runs, board, order])
  const ids = idsInAddress()
  const toggle = ({ id }: Run) => {
    const next = ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]
    setQuery({ runs: textOfIds(next) })
  }
  const columns = runColumns({ project, scores, order }, ({ id }) => ids.includes(id), toggle)
  return html`<${Grid}
    label="Runs of evaluations"
    columns=${board ? [rankColumn(ranks), ...columns] : columns}
    count=${shown.length}
    at=${(index: number) => shown[index]}
    isChosen=${({ id }: Run) => ids.includes(id)}
  />`
}

/** @param runs - the newest first */
function newestOfModels(runs: readonly Run[]): readonly Run[] {
  const seen = new Set<string>()
  return runs.filter(({ evaluation, model }) => {
    const name = JSON.stringify([evaluation, model])
    return !seen.has(name) && seen.add(name)
  })
}
