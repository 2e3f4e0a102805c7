/** The parameters of a completion as a form, made from the server's schema. */
import { html } from 'htm/preact'
import { Failure } from '../parts/notice.ts'
import type { Parameter, Parameters, Texts } from './parameters.ts'

/** A tool to begin with. */
const TOOL = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather of a city.',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    },
  ],
  null,
  2,
)

interface ParameterFormProps {
  readonly parameters: Parameters | null
  readonly failure: string | null
  readonly texts: Texts
  readonly onChange: (texts: Texts) => void
}

export function ParameterForm({ parameters, failure, texts, onChange }: ParameterFormProps) {
  if (parameters === null) return html`<${Failure} words=${failure} />`
  const fieldFor = (parameter: Parameter) =>
    html`<${Field}
      key=${parameter.name}
      parameter=${parameter}
      text=${texts[parameter.name] ?? ''}
      onChange=${(text: string) => onChange({ ...texts, [parameter.name]: text })}
    />`
  const set = parameters.others.filter(({ name }) => texts[name]).length
  return html`${parameters.first.map(fieldFor)}
    <details>
      <summary>All other parameters${set > 0 ? ` (${set} set)` : ''}</summary>
      <div class="fields">${parameters.others.map(fieldFor)}</div>
    </details>`
}

interface FieldProps {
  readonly parameter: Parameter
  readonly text: string
  readonly onChange: (text: string) => void
}

function Field({ parameter, text, onChange }: FieldProps) {
  const { name, description } = parameter
  return html`<label title=${description}>${name}<${Input} parameter=${parameter} text=${text} onChange=${onChange} /></label>
    ${name === 'tools' && text === '' && html`<button type="button" class="quiet" onClick=${() => onChange(TOOL)}>insert a tool</button>`}`
}

function Input({ parameter, text, onChange }: FieldProps) {
  const { name, kind, choices, minimum, maximum } = parameter
  const change = (event: Event) => onChange((event.target as HTMLInputElement).value)
  if (kind === 'boolean' || kind === 'choice') {
    const options = kind === 'boolean' ? ['true', 'false'] : choices
    return html`<select aria-label=${name} value=${text} onChange=${change}>
      <option value="">default</option>
      ${options.map((option) => html`<option key=${option} value=${option}>${option}</option>`)}
    </select>`
  }
  if (kind === 'json') {
    const rows = Math.min(12, Math.max(1, text.split('\n').length))
    return html`<textarea aria-label=${name} rows=${rows} spellcheck=${false} value=${text} onInput=${change}></textarea>`
  }
  if (kind === 'text') return html`<input aria-label=${name} value=${text} onInput=${change} />`
  const step = kind === 'integer' ? '1' : 'any'
  return html`<input aria-label=${name} type="number" step=${step} min=${minimum} max=${maximum} value=${text} onInput=${change} />`
}
