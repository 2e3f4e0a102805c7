/** A form that makes a name serve a model, with or without a candidate. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { clickOnce, textOf, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Failure } from '../../parts/notice.ts'
import type { Model } from '../training-api.ts'
import { setAlias } from './alias-api.ts'

interface AliasFormProps {
  readonly project: string
  /** Models that are offered. */
  readonly models: readonly Model[]
  /** What the form begins with; '': nothing. */
  readonly model: string
  readonly onSaved: () => void
}

export function AliasForm({ project, models, model, onSaved }: AliasFormProps) {
  const [fields, setFields] = useState({ name: '', target: model, candidate: '', percent: '10' })
  const set = (name: keyof typeof fields) =>
    textOf((value) => setFields((last) => ({ ...last, [name]: value })))
  const { submit, failure } = useSubmit(async () => {
    const { name, target, candidate, percent } = fields
    const share = candidate === '' ? null : { model: candidate, percent: Number(percent) }
    await setAlias({ project_id: project, name: name.trim(), target, candidate: share })
    setFields({ name: '', target: '', candidate: '', percent: '10' })
    onSaved()
  })
  const names = models.flatMap(({ name, base_model }) => [name, `${name}:step0`, base_model])
  return html`<form class="bar" aria-label="Name" onSubmit=${submit}>
    <label class="inline">Name<input required maxlength="128" placeholder="helper" value=${fields.name} onInput=${set('name')} /></label>
    <label class="inline">Serves<input required list="served-models" placeholder="owl:step3" value=${fields.target} onInput=${set('target')} /></label>
    <label class="inline">Candidate<input list="served-models" placeholder="none" value=${fields.candidate} onInput=${set('candidate')} /></label>
    <label class="inline">Its share in %<input class="short" type="number" min="0" max="100" step="any" value=${fields.percent} disabled=${fields.candidate === ''} onInput=${set('percent')} /></label>
    <datalist id="served-models">${[...new Set(names)].map((name) => html`<option key=${name} value=${name} />`)}</datalist>
    <button class="main" onClick=${clickOnce}>Serve</button>
    <${Failure} words=${failure} />
  </form>`
}
