/** Shows which models of the project have no price, and what clients report for them; writers can set a price. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import { may } from '../api/session.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'

/** A model of `/cost/unpriced`. */
interface Unpriced {
  readonly llm_id: string
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly known_cost: number | null
  readonly has_reported_cost: boolean
  readonly lacks_cost: boolean
}

/** The first day of a price that holds for all calls. */
const ALWAYS = '1970-01-01T00:00:00Z'
const TOKENS_PER_PRICE = 1_000_000

export function UnpricedModels({ project }: { readonly project: string }) {
  const [turn, setTurn] = useState(0)
  const { value, failure } = useLoad(
    `unpriced ${project}`,
    (signal) =>
      requestJson<{ models: Unpriced[] }>('/cost/unpriced', { project_id: project }, { signal }),
    turn,
  )
  if (failure !== null) return html`<${Failure} words=${failure} />`
  if (value === null || value.models.length === 0) return null
  const onSet = () => setTurn((last) => last + 1)
  return html`<section class="card unpriced">
    <h2>Models without a price</h2>
    <p class="faint">Of the last 30 days. A price that you set holds for all calls of the project, also past ones.</p>
    <div class="scroll" tabindex="0"><table class="list" aria-label="Models without a price">
      <thead><tr><th scope="col">Model</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Tokens in</th><th scope="col" class="number">Tokens out</th><th scope="col">Cost</th><th scope="col">Price</th></tr></thead>
      <tbody>${value.models.map(
        (model) => html`<tr key=${model.llm_id}>
          <th scope="row" class="wrap">${model.llm_id}</th>
          <td class="number">${formatCount(model.calls)}</td>
          <td class="number">${formatCount(model.input_tokens)}</td>
          <td class="number">${formatCount(model.output_tokens)}</td>
          <td>${wordsFor(model)}</td>
          <td>${may('traces:write') && html`<${SetPrice} project=${project} model=${model.llm_id} onSet=${onSet} />`}</td>
        </tr>`,
      )}</tbody>
    </table></div>
  </section>`
}

function wordsFor({ known_cost, has_reported_cost, lacks_cost }: Unpriced): string {
  if (known_cost === null) return 'unknown'
  const source = has_reported_cost ? ', reported' : ''
  return `${formatCost(known_cost)}${source}${lacks_cost ? ', some unknown' : ''}`
}

interface SetPriceProps {
  readonly project: string
  readonly model: string
  readonly onSet: () => void
}

/** Prices are typed for a million tokens, as providers list them. */
function SetPrice({ project, model, onSet }: SetPriceProps) {
  const [input, setInput] = useState('')
  const [output, setOutput] = useState('')
  const { submit, failure } = useSubmit(async () => {
    const price = {
      prompt_token_cost: Number(input) / TOKENS_PER_PRICE,
      completion_token_cost: Number(output) / TOKENS_PER_PRICE,
      effective_date: ALWAYS,
    }
    await requestJson('/cost/create', { project_id: project, costs: { [model]: price } })
    onSet()
  })
  const field = (side: string, value: string, set: (text: string) => void) =>
    html`<input class="short" type="number" min="0" step="any" required placeholder=${side} aria-label=${`US dollars for a million ${side} tokens of ${model}`} value=${value} onInput=${(event: InputEvent) => set((event.target as HTMLInputElement).value)} />`
  return html`<form class="bar" onSubmit=${submit}>
      <span class="faint">$ for 1M</span>
      ${field('input', input, setInput)}
      ${field('output', output, setOutput)}
      <button onClick=${clickOnce} aria-label=${`Set the price of ${model}`}>Set</button>
      <${Failure} words=${failure} />
    </form>`
}
