/** Evaluators of a project: what each scores and has done, and a form for another one. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import { requestJson } from '../api/client.ts'
import { may } from '../api/session.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import { type Act, useAction } from '../parts/hooks/use-action.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { EvaluatorDetail } from './evaluator-detail.ts'
import { EvaluatorForm } from './evaluator-form.ts'
import { nameScorer, nameShare, pathToResults, reasonOf, urlOf } from './evaluator-labels.ts'

export function Evaluators({ project, subject }: ViewProps) {
  return subject === null
    ? html`<${EvaluatorList} key=${project} project=${project} />`
    : html`<${EvaluatorDetail} key=${subject} project=${project} id=${subject} />`
}

function EvaluatorList({ project }: { readonly project: string }) {
  const [turn, setTurn] = useState(0)
  const reload = () => setTurn((last) => last + 1)
  const { act, done, failure } = useAction(reload)
  const load = (signal: AbortSignal) =>
    requestJson<{ evaluators: EvaluatorResponse[] }>(
      '/evaluators/query',
      { project_id: project },
      { signal },
    )
  const loaded = useLoad(project, load, turn)
  if (loaded.value === null) return html`<${Pending} title="Evaluators" loaded=${loaded} />`
  const { evaluators } = loaded.value
  return html`<h1>Evaluators</h1>
    <p>An evaluator scores the calls of the project by itself, as they arrive: by a rule, by a judge or by a service of yours.
      Its results are feedback. More conditions and schemas of judges are set over the API.</p>
    ${
      may('traces:write')
        ? html`<${EvaluatorForm} project=${project} stored=${null} onSaved=${reload} />`
        : html`<p class="notice">The key may not change evaluators (it lacks traces:write).</p>`
    }
    <${Failure} words=${failure ?? loaded.failure} />
    <p role="status">${done}</p>
    ${evaluators.length === 0 && html`<p class="notice">No evaluators yet.</p>`}
    ${
      evaluators.length > 0 &&
      html`<div class="scroll" tabindex="0"><table class="list" aria-label="Evaluators">
      <thead><tr>
        <th scope="col">Evaluator</th><th scope="col">State</th><th scope="col">Scores</th><th scope="col">Scorer</th>
        <th scope="col" class="number">Scored</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Waiting</th>
        <th scope="col" class="number">Today</th><th scope="col"><span class="hidden">Actions</span></th>
      </tr></thead>
      <tbody>${evaluators.map((evaluator) => html`<${EvaluatorRow} key=${evaluator.id} project=${project} evaluator=${evaluator} act=${act} />`)}</tbody>
    </table></div>`
    }`
}

interface EvaluatorRowProps {
  readonly project: string
  readonly evaluator: EvaluatorResponse
  readonly act: Act
}

function EvaluatorRow({ project, evaluator, act }: EvaluatorRowProps) {
  const { id, name, state, scored, failed, waiting, spent_today_usd } = evaluator
  const isPaused = state === 'paused'
  const toggle = () =>
    act(async () => {
      await requestJson(urlOf(id, isPaused ? '/resume' : '/pause'), { project_id: project })
      return `${name} ${isPaused ? 'was resumed' : 'was paused'}.`
    })
  const remove = () =>
    confirm(`Delete the evaluator ${name} and what waits for it? Its results stay.`)
      ? act(async () => {
          const query = new URLSearchParams({ project_id: project })
          await requestJson(`${urlOf(id)}?${query}`, undefined, { method: 'DELETE' })
          return `${name} was deleted.`
        })
      : undefined
  return html`<tr>
    <td class="wrap"><a href=${pathTo(project, 'evaluators', id)}>${name}</a></td>
    <td class="wrap">${isPaused ? 'paused' : 'running'}<br /><span class="faint">${reasonOf(evaluator)}</span></td>
    <td>${nameShare(evaluator)}</td>
    <td class="wrap">${nameScorer(evaluator)}</td>
    <td class="number">${formatCount(scored)}</td>
    <td class="number">${formatCount(failed)}</td>
    <td class="number">${formatCount(waiting)}</td>
    <td class="number">${formatCost(spent_today_usd)}</td>
    <td>
      <a href=${pathToResults(project, name)}>results</a>
      ${
        may('traces:write') &&
        html` <button class="quiet" onClick=${toggle}>${isPaused ? 'resume' : 'pause'}</button>
          <button class="quiet" onClick=${remove}>delete</button>`
      }
    </td>
  </tr>`
}
