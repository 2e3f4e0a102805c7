/** The form that makes an evaluator, or the next version of one. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import { requestJson } from '../api/client.ts'
import { refScheme } from '../api/ref-scheme.ts'
import { may } from '../api/session.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { EMPTY, toDefinition, toFields, UNSUPPORTED } from './evaluator-fields.ts'
import { urlOf } from './evaluator-labels.ts'
import { ScorerFields, ScorerKind, type Setter } from './scorer-fields.ts'

interface EvaluatorFormProps {
  readonly project: string
  /** The evaluator that is edited; null: a new one. */
  readonly stored: EvaluatorResponse | null
  readonly onSaved: (saved: EvaluatorResponse) => void
}

export function EvaluatorForm({ project, stored, onSaved }: EvaluatorFormProps) {
  const empty = may('inference') ? EMPTY : { ...EMPTY, kind: 'contains' }
  const initial = () => (stored === null ? empty : toFields(stored))
  const [fields, setFields] = useState(initial)
  const set: Setter =
    (name) =>
    ({ currentTarget: { value } }) =>
      setFields((last) => ({ ...last, [name]: value }))
  const toRef = (name: string) => `${refScheme()}:///${project}/op/${encodeURIComponent(name)}:*`
  const { submit, failure } = useSubmit(async () => {
    const body = { project_id: project, ...toDefinition(fields, stored, toRef) }
    const saved =
      stored === null
        ? await requestJson<EvaluatorResponse>('/evaluators', { name: fields.name, ...body })
        : await requestJson<EvaluatorResponse>(urlOf(stored.id), body, { method: 'PUT' })
    if (stored === null) setFields(empty)
    onSaved(saved)
  })
  return html`<form class="card bar filters" aria-label=${stored === null ? 'New evaluator' : 'Definition'} onSubmit=${submit}>
    ${stored === null && html`<label>Name<input required maxlength="128" pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*" title="letters, digits, _ . and -" value=${fields.name} onInput=${set('name')} /></label>`}
    <label>Operations, one on each line<textarea rows="2" placeholder="all" value=${fields.operations} onInput=${set('operations')}></textarea></label>
    <label>Scores each<select value=${fields.target} onChange=${set('target')}>
      <option value="call">call</option><option value="trace">trace</option><option value="conversation">conversation</option>
    </select></label>
    <label>Share, 0 to 1<input class="short" type="number" required min="0" max="1" step="any" value=${fields.sampling} onInput=${set('sampling')} /></label>
    <${ScorerKind} fields=${fields} set=${set} isStored=${stored !== null && toFields(stored).kind === UNSUPPORTED} />
    <${ScorerFields} fields=${fields} set=${set} />
    <button onClick=${clickOnce}>${stored === null ? 'Add evaluator' : 'Save as the next version'}</button>
    <${Failure} words=${failure} />
  </form>`
}
