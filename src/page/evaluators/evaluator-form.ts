/** The form that makes an evaluator, or the next version of one. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import { requestJson } from '../api/client.ts'
import { refScheme } from '../api/ref-scheme.ts'
import { may } from '../api/session.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { EMPTY, type Fields, toDefinition, toFields, UNSUPPORTED } from './evaluator-fields.ts'
import { urlOf } from './evaluator-labels.ts'

type FieldEvent = Event & {
  readonly currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
}

type Setter = (name: keyof Fields) => (event: FieldEvent) => void

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
  return html`<form class="bar" aria-label=${stored === null ? 'New evaluator' : 'Definition'} onSubmit=${submit}>
    ${stored === null && html`<label>Name<input required maxlength="128" pattern="[A-Za-z0-9][A-Za-z0-9_.\\-]*" title="letters, digits, _ . and -" value=${fields.name} onInput=${set('name')} /></label>`}
    <label>Operations, one on each line<textarea rows="2" placeholder="all" value=${fields.operations} onInput=${set('operations')}></textarea></label>
    <label>Scores each<select value=${fields.target} onChange=${set('target')}>
      <option value="call">call</option><option value="trace">trace</option><option value="conversation">conversation</option>
    </select></label>
    <label>Share, 0 to 1<input class="short" type="number" required min="0" max="1" step="any" value=${fields.sampling} onInput=${set('sampling')} /></label>
    <label>Scorer<select value=${fields.kind} onChange=${set('kind')}>
      <option value="judge" disabled=${!may('inference')}>judge${may('inference') ? '' : ' (needs the scope inference)'}</option>
      <option value="contains">rule: contains</option>
      <option value="regex">rule: regular expression</option>
      <option value="length">rule: length</option>
      <option value="latency">rule: latency</option>
      <option value="webhook">webhook</option>
      ${stored !== null && toFields(stored).kind === UNSUPPORTED && html`<option value=${UNSUPPORTED}>as it is</option>`}
    </select></label>
    <${ScorerFields} fields=${fields} set=${set} />
    <button onClick=${clickOnce}>${stored === null ? 'Add evaluator' : 'Save as the next version'}</button>
    <${Failure} words=${failure} />
  </form>`
}

interface ScorerFieldsProps {
  readonly fields: Fields
  readonly set: Setter
}

function ScorerFields({ fields, set }: ScorerFieldsProps) {
  const { kind } = fields
  if (kind === UNSUPPORTED) return html`<p class="notice">This scorer is changed over the API.</p>`
  if (kind === 'webhook') {
    return html`<label>Address<input type="url" required maxlength="2048" placeholder="https://" value=${fields.url} onInput=${set('url')} /></label>`
  }
  if (kind === 'judge') {
    return html`<label>Model<input required maxlength="512" value=${fields.model} onInput=${set('model')} /></label>
      <label>Prompt, with variables as {output}<textarea required rows="4" value=${fields.prompt} onInput=${set('prompt')}></textarea></label>
      <label>Variables, as name = path<textarea rows="4" spellcheck=${false} value=${fields.variables} onInput=${set('variables')}></textarea></label>
      <label>Dollars a day, at most<input type="number" min="0" step="any" placeholder="any" value=${fields.usd} onInput=${set('usd')} /></label>`
  }
  return html`${kind !== 'latency' && html`<label>Path<input required maxlength="1024" value=${fields.path} onInput=${set('path')} /></label>`}
    ${kind === 'contains' && html`<label>Texts, any of these lines<textarea required rows="2" value=${fields.texts} onInput=${set('texts')}></textarea></label>`}
    ${kind === 'regex' && html`<label>Pattern<input required maxlength="2000" spellcheck=${false} value=${fields.pattern} onInput=${set('pattern')} /></label>`}
    ${
      kind === 'length' &&
      html`<label>Unit<select value=${fields.unit} onChange=${set('unit')}>
        <option value="characters">characters</option><option value="words">words</option>
      </select></label>
      <label>At least<input class="short" type="number" min="0" step="any" value=${fields.min} onInput=${set('min')} /></label>
      <label>At most<input class="short" type="number" min="0" step="any" value=${fields.max} onInput=${set('max')} /></label>`
    }
    ${kind === 'latency' && html`<label>Milliseconds, at most<input type="number" required min="0" step="any" value=${fields.max_ms} onInput=${set('max_ms')} /></label>`}
    <label>Passes when the rule<select value=${fields.passes} onChange=${set('passes')}>
      <option value="holds">holds</option><option value="fails">does not hold</option>
    </select></label>`
}
