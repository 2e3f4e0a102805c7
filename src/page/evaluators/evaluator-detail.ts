/** One evaluator: its counts, its definition, its versions, and the scoring of old calls. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { z } from 'zod'
import type {
  EvaluatorResponse,
  EvaluatorVersionsResponse,
} from '../../schemas/evaluators/evaluator.ts'
import { requestJson } from '../api/client.ts'
import { THUMBS } from '../api/feedback.ts'
import { may } from '../api/session.ts'
import { Folded } from '../parts/folded.ts'
import { formatCost, formatCount, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { Agreement } from '../parts/rating/agreement.ts'
import { pathTo } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { BackfillPanel } from './backfill-panel.ts'
import { toFields } from './evaluator-fields.ts'
import { EvaluatorForm } from './evaluator-form.ts'
import { nameScorer, nameShare, pathToResults, reasonOf, urlOf } from './evaluator-labels.ts'
import { TrialPanel } from './trial-panel.ts'

type Version = z.infer<typeof EvaluatorVersionsResponse>['versions'][number]

interface EvaluatorDetailProps {
  readonly project: string
  readonly id: string
}

export function EvaluatorDetail({ project, id }: EvaluatorDetailProps) {
  const [turn, setTurn] = useState(0)
  const reload = () => setTurn((last) => last + 1)
  const query = `?${new URLSearchParams({ project_id: project })}`
  const loaded = useLoad(
    id,
    async (signal) => {
      const [evaluator, { versions }] = await Promise.all([
        requestJson<EvaluatorResponse>(`${urlOf(id)}${query}`, undefined, { signal }),
        requestJson<{ versions: Version[] }>(`${urlOf(id, '/versions')}${query}`, undefined, {
          signal,
        }),
      ])
      return { evaluator, versions }
    },
    turn,
  )
  useSubjectName(id, loaded.isLoading, loaded.value?.evaluator.name)
  if (loaded.value === null) return html`<${Pending} title="Evaluator" loaded=${loaded} />`
  const { evaluator, versions } = loaded.value
  const { name, version, state, scored, failed, dropped, waiting, monitor_ref } = evaluator
  const isEditable = may('traces:write') && monitor_ref === null
  return html`<h1>${name}</h1>
    <p><a href=${pathTo(project, 'evaluators')}>All evaluators</a>, <a href=${pathToResults(project, name)}>its results</a></p>
    <p>${state === 'paused' ? 'Paused' : 'Running'}: ${nameScorer(evaluator)}, ${nameShare(evaluator)}. ${reasonOf(evaluator)}</p>
    <p>${formatCount(scored)} scored, ${formatCount(failed)} failed, ${formatCount(waiting)} waiting, ${formatCount(dropped)} dropped; ${formatCost(evaluator.spent_today_usd)} today, ${formatCost(evaluator.spent_usd)} in all</p>
    <${Failure} words=${loaded.failure} />
    ${monitor_ref !== null && html`<p class="notice">It runs the monitor ${monitor_ref}, and changes with it.</p>`}
    ${isEditable && html`<h2>Definition</h2><${EvaluatorForm} key=${version} project=${project} stored=${evaluator} onSaved=${reload} />`}
    <h2>Old calls</h2>
    <${BackfillPanel} project=${project} evaluator=${evaluator} onChange=${reload} />
    <${Folded} title="Agreement with people">${() => html`<${PeopleAgreement} project=${project} evaluator=${name} />`}<//>
    ${
      isEditable &&
      isTriable(evaluator) &&
      html`<${Folded} title="Try a prompt on rated calls">${() => html`<${TrialPanel} key=${version} project=${project} evaluator=${evaluator} onSaved=${reload} />`}<//>`
    }
    <h2>Versions</h2>
    <div class="scroll" tabindex="0"><table class="list" aria-label="Versions">
      <thead><tr><th scope="col" class="number">Version</th><th scope="col">Made</th><th scope="col">By</th><th scope="col">Scores</th><th scope="col">Scorer</th></tr></thead>
      <tbody>${versions.map(
        (one) => html`<tr key=${one.version}>
          <td class="number">${one.version}</td>
          <td>${formatTime(one.created_at, false)}</td>
          <td class="wrap">${one.svc_user_id}</td>
          <td>${nameShare(one.definition)}</td>
          <td class="wrap">${nameScorer(one.definition)}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
}

/** Whether it has a judge of calls that the form can show. */
function isTriable(evaluator: EvaluatorResponse): boolean {
  const { kind } = toFields(evaluator)
  return kind === 'judge' && evaluator.target === 'call' && may('inference')
}

interface PeopleAgreementProps {
  readonly project: string
  /** Its name. */
  readonly evaluator: string
}

function PeopleAgreement({ project, evaluator }: PeopleAgreementProps) {
  const [type, setType] = useState(THUMBS)
  const change = ({ currentTarget }: Event & { readonly currentTarget: HTMLInputElement }) =>
    setType(currentTarget.value.trim() || THUMBS)
  const chosen = { feedback_types: [type], evaluators: [evaluator] }
  return html`<label>Type of the ratings <input value=${type} maxlength="256" onChange=${change} /></label>
    <${Agreement} project=${project} chosen=${chosen} ofJudges />`
}
