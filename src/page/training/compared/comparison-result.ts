/** The result of a comparison on held-out prompts: differences with intervals, and the verdict as a sentence. */
import { html } from 'htm/preact'
import type { ComparisonResponse } from '../../../schemas/training/comparison.ts'
import { formatCount, formatNumber } from '../../parts/format.ts'
import type { Act } from '../../parts/hooks/use-action.ts'
import { pathTo } from '../../shell/page-route.ts'
import type { Alias } from '../served/alias-api.ts'
import { ServeButtons } from '../served/serve-buttons.ts'
import { controlOf } from '../training-api.ts'
import { Interval, largestOf, verdictOf } from './interval.ts'

interface Compared {
  readonly model: string
  readonly responses: number
  readonly failed: number
  readonly mean_reward: number | null
  readonly difference: null | {
    readonly prompts: number
    readonly mean: number | null
    readonly low: number | null
    readonly high: number | null
    readonly p_value: number | null
  }
}

/** Whether a step is of a control that was trained beside the model of another step. */
function isControl(model: string, models: readonly string[]): boolean {
  return models.some((other) => nameOf(model) === controlOf(nameOf(other)))
}

function nameOf(model: string): string {
  return model.replace(/:step\d+$/, '')
}

interface ComparisonResultProps {
  readonly project: string
  readonly comparison: ComparisonResponse
  /** Names of the project, which serve a model by a click. */
  readonly aliases: readonly Alias[]
  readonly act: Act
}

export function ComparisonResult({ project, comparison, ...served }: ComparisonResultProps) {
  const { id, state, completed, requests, error, result, models } = comparison
  const rows = (result?.models ?? []) as unknown as readonly Compared[]
  const responses = `${pathTo(project, 'calls')}?${new URLSearchParams({ q: `trace:${id}`, all: '1' })}`
  if (result === null) {
    return html`<p role="status">${state === 'running' ? 'Comparing' : state}: ${formatCount(completed)} of ${formatCount(requests)} responses. ${error}</p>`
  }
  const most = largestOf(rows.map(({ difference }) => difference))
  const isControlRow = ({ model }: Compared) => isControl(model, models)
  return html`<p><b>${sayVerdict(rows, isControlRow)}</b></p>
    <div class="scroll" tabindex="0"><table class="list" aria-label="Comparison">
      <thead><tr>
        <th scope="col">Model</th><th scope="col" class="number">Mean reward</th>
        <th scope="col" class="number">Responses</th>
        <th scope="col">Difference to ${models[0]}, 95 % interval</th>
        <th scope="col" class="number">p-value</th><th scope="col">Serve</th>
      </tr></thead>
      <tbody>${rows.map(
        (row) => html`<tr key=${row.model}>
          <td>${row.model}${isControlRow(row) && html` <span class="faint">control: shuffled rewards</span>`}</td>
          <td class="number">${row.mean_reward === null ? '' : formatNumber(row.mean_reward)}</td>
          <td class="number">${formatCount(row.responses)}${row.failed > 0 && html` <span class="error">${row.failed} failed</span>`}</td>
          <td>${row.difference === null ? html`<span class="faint">what the others are compared with</span>` : html`<${Interval} difference=${row.difference} most=${most} />`}</td>
          <td class="number">${sayChance(row.difference?.p_value ?? null)}</td>
          <td>${!isControlRow(row) && html`<${ServeButtons} project=${project} model=${row.model} ...${served} />`}</td>
        </tr>`,
      )}</tbody>
    </table></div>
    <p class="faint">${formatCount(Number(result.prompts))} prompts that no job of this split was trained on, ${formatCount(Number(result.samples))} responses of each model to each.
      The interval is a bootstrap over prompts; the p-value is how often a difference as large comes about by chance. <a href=${responses}>The responses</a></p>
    ${error !== null && html`<p class="error">${error}</p>`}`
}

function sayChance(p: number | null): string {
  if (p === null) return ''
  return p < 0.001 ? '< 0.001' : p.toPrecision(2)
}

/** What the differences say about the checkpoint, and about the control. */
function sayVerdict(rows: readonly Compared[], isControlRow: (row: Compared) => boolean): string {
  const tried = rows.filter((row) => row.difference !== null && !isControlRow(row))
  const control = rows.find(isControlRow)
  const words = tried.map(({ model, difference }) => {
    const verdict = difference === null ? 'open' : verdictOf(difference)
    if (verdict === 'open')
      return `Whether ${model} is better is open: take more prompts or responses.`
    return `${model} is ${verdict} than ${rows[0]?.model} on held-out prompts.`
  })
  if (control?.difference) {
    const verdict = verdictOf(control.difference)
    words.push(
      verdict === 'better'
        ? 'The control on shuffled rewards got better, too: the rewards alone do not explain it.'
        : 'The control on shuffled rewards did not get better.',
    )
  }
  return words.join(' ')
}
