/** The fields of a scorer: a judge, a rule or a webhook. */
import { html } from 'htm/preact'
import type { VNode } from 'preact'
import { may } from '../api/session.ts'
import { type Fields, UNSUPPORTED } from './evaluator-fields.ts'
import { isRuleKind, RULE_FORMS, type RuleKind } from './rule-fields.ts'

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
    ${Object.entries(RULE_FORMS).map(
      ([kind, { label }]) => html`<option key=${kind} value=${kind}>rule: ${label}</option>`,
    )}
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
  if (!isRuleKind(kind)) return null
  return html`${RULE_INPUTS[kind]({ fields, set })}
    <label>Passes when the rule<select value=${fields.passes} onChange=${set('passes')}>
      <option value="holds">holds</option><option value="fails">does not hold</option>
    </select></label>`
}

/** The inputs of every kind of rule. */
const RULE_INPUTS: { readonly [Kind in RuleKind]: (props: ScorerFieldsProps) => VNode } = {
  equals: (props) =>
    html`<${PathField} ...${props} /><${ExpectedFields} ...${props} /><${CaseField} ...${props} />`,
  contains: (props) => html`<${PathField} ...${props} />
    <label>Texts, one on each line<textarea required rows="2" value=${props.fields.texts} onInput=${props.set('texts')}></textarea></label>
    <label>Of them must occur<select value=${props.fields.occurring} onChange=${props.set('occurring')}>
      <option value="any">any</option><option value="all">all</option>
    </select></label>
    <${CaseField} ...${props} />`,
  regex: (props) => html`<${PathField} ...${props} />
    <label>Pattern<input required maxlength="2000" spellcheck=${false} value=${props.fields.pattern} onInput=${props.set('pattern')} /></label>
    <${CaseField} ...${props} />`,
  similarity: (props) => html`<${PathField} ...${props} /><${ExpectedFields} ...${props} />
    <label>Score, at least<input class="short" type="number" required min="0" max="1" step="any" value=${props.fields.min_score} onInput=${props.set('min_score')} /></label>
    <${CaseField} ...${props} />`,
  json_schema: (props) => html`<${PathField} ...${props} />
    <label>JSON Schema<textarea required rows="4" spellcheck=${false} value=${props.fields.schema} onInput=${props.set('schema')}></textarea></label>`,
  length: ({ fields, set }) => html`<${PathField} fields=${fields} set=${set} />
    <label>Unit<select value=${fields.unit} onChange=${set('unit')}>
      <option value="characters">characters</option><option value="words">words</option>
    </select></label>
    <label>At least<input class="short" type="number" min="0" step="any" value=${fields.min} onInput=${set('min')} /></label>
    <label>At most<input class="short" type="number" min="0" step="any" value=${fields.max} onInput=${set('max')} /></label>`,
  latency: ({ fields, set }) =>
    html`<label>Milliseconds, at most<input type="number" required min="0" step="any" value=${fields.max_ms} onInput=${set('max_ms')} /></label>`,
  cost: ({ fields, set }) =>
    html`<label>Dollars a call, at most<input type="number" required min="0" step="any" value=${fields.max_usd} onInput=${set('max_usd')} /></label>`,
}

function PathField({ fields, set }: ScorerFieldsProps) {
  return html`<label>Path<input required maxlength="1024" value=${fields.path} onInput=${set('path')} /></label>`
}

function CaseField({ fields, set }: ScorerFieldsProps) {
  return html`<label>Upper and lower case<select value=${fields.case} onChange=${set('case')}>
    <option value="matters">matters</option><option value="ignored">makes no difference</option>
  </select></label>`
}

/** The value that equals and similarity compare with. */
function ExpectedFields({ fields, set }: ScorerFieldsProps) {
  const isValue = fields.expected === 'value'
  return html`<label>Expected is<select value=${fields.expected} onChange=${set('expected')}>
      <option value="path">what is at a path</option><option value="value">a value</option>
    </select></label>
    ${
      isValue
        ? html`<label key="value">Expected value, as JSON<textarea required rows="2" spellcheck=${false} placeholder=${'"blue"'} value=${fields.value} onInput=${set('value')}></textarea></label>`
        : html`<label key="path">Path of the expected value<input required maxlength="1024" placeholder="$.reference.expected" value=${fields.expected_path} onInput=${set('expected_path')} /></label>`
    }`
}
