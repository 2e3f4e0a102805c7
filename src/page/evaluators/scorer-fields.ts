/** The fields of a scorer: a judge, a rule or a webhook. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { type Fields, UNSUPPORTED } from './evaluator-fields.ts'

type FieldEvent = Event & {
  readonly currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
}

export type Setter = (name: keyof Fields) => (event: FieldEvent) => void

interface ScorerKindProps extends ScorerFieldsProps {
  /** Whether the stored scorer is of a kind that the fields do not show. */
  readonly isStored?: boolean
}

export function ScorerKind({ fields, set, isStored = false }: ScorerKindProps) {
  return html`<label>Scorer<select value=${fields.kind} onChange=${set('kind')}>
    <option value="judge" disabled=${!may('inference')}>judge${may('inference') ? '' : ' (needs the scope inference)'}</option>
    <option value="equals">rule: equals</option>
    <option value="contains">rule: contains</option>
    <option value="regex">rule: regular expression</option>
    <option value="length">rule: length</option>
    <option value="latency">rule: latency</option>
    <option value="webhook">webhook</option>
    ${isStored && html`<option value=${UNSUPPORTED}>as it is</option>`}
  </select></label>`
}

interface ScorerFieldsProps {
  readonly fields: Fields
  readonly set: Setter
}

export function ScorerFields({ fields, set }: ScorerFieldsProps) {
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
    ${kind === 'equals' && html`<label>Path of the expected value<input required maxlength="1024" placeholder="$.reference.expected" value=${fields.expected_path} onInput=${set('expected_path')} /></label>`}
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
