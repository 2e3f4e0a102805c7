/** The checkpoints of a model, the newest first, each with a link to the playground. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../api/session.ts'
import { formatNumber } from '../parts/format.ts'
import { pathTo } from '../shell/page-route.ts'
import type { Checkpoint, Model } from './training-api.ts'

const NUMBERS = ['reward', 'reward_std_dev', 'loss', 'entropy', 'kl_div', 'grad_norm']
/** Rows that are shown at first. */
const SHOWN = 10

interface CheckpointsProps {
  readonly project: string
  readonly model: Model
  /** The last step first. */
  readonly checkpoints: readonly Checkpoint[]
}

export function Checkpoints({ project, model, checkpoints }: CheckpointsProps) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? checkpoints : checkpoints.slice(0, SHOWN)
  return html`<h2>Checkpoints</h2>
    ${checkpoints.length === 0 && html`<p class="faint">None yet: ${model.name} answers as ${model.base_model}.</p>`}
    <div class="scroll" tabindex="0">
      <table class="list" aria-label="Checkpoints">
        <thead><tr>
          <th scope="col" class="number">Step</th>
          ${NUMBERS.map((name) => html`<th key=${name} scope="col" class="number">${name}</th>`)}
          <th scope="col" class="number">Trained of submitted groups</th>
          <th scope="col"><span class="hidden">Try</span></th>
        </tr></thead>
        <tbody>
          ${shown.map((each) => html`<${Row} key=${each.id} project=${project} model=${model} checkpoint=${each} />`)}
          <${Row} project=${project} model=${model} checkpoint=${{ id: 'base', step: 0, metrics: {} }} />
        </tbody>
      </table>
    </div>
    ${
      checkpoints.length > shown.length &&
      html`<button onClick=${() => setWhole(true)}>${checkpoints.length - shown.length} more</button>`
    }`
}

interface RowProps {
  readonly project: string
  readonly model: Model
  readonly checkpoint: Checkpoint
}

function Row({ project, model, checkpoint: { step, metrics } }: RowProps) {
  const numbers = metrics as Readonly<Record<string, unknown>>
  const text = (name: string) => {
    const value = numbers[name]
    return typeof value === 'number' ? formatNumber(value) : ''
  }
  const name = `${model.name}:step${step}`
  const trained = text('num_groups_trainable')
  return html`<tr>
    <td class="number">${step}</td>
    ${NUMBERS.map((each) => html`<td key=${each} class="number">${text(each)}</td>`)}
    <td class="number">${trained === '' ? '' : `${trained} of ${text('num_groups_submitted')}`}</td>
    <td>${may('inference') && html`<a href=${playgroundOf(project, name)}>try ${step === 0 ? 'the base model' : 'this step'}</a> · <a href=${`${pathTo(project, 'training', 'served')}?${new URLSearchParams({ model: name })}`}>serve</a>`}</td>
  </tr>`
}

/** The playground with a model chosen. */
export function playgroundOf(project: string, model: string): string {
  return `${pathTo(project, 'playground')}?${new URLSearchParams({ model })}`
}
