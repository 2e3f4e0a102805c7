/** The choices that make a training job out of calls. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import type { Model } from '../training-api.ts'
import { EMPTY_REWARD, type RewardChoice } from './reward-choices.ts'
import { RewardFields } from './reward-fields.ts'
import type { RewardSource } from './reward-sources.ts'

export interface JobChoices {
  readonly rewards: readonly RewardChoice[]
  readonly rollout_by: 'call' | 'trace_id' | 'thread_id'
  readonly group_by: string
  /** Limit: calls. */
  readonly limit: string
  /** Percent of the prompts. */
  readonly heldOut: string
  readonly split_seed: string
  /** Models whose responses are taken, separated by commas; '' means the model and its base. */
  readonly takenModels: string
  /** '' creates a model from `name` and `base`. */
  readonly modelId: string
  readonly name: string
  readonly base: string
  /** '' means the server's default. */
  readonly learning_rate: string
  readonly ppo: boolean
  readonly scale_rewards: boolean
  /** Whether a second model is trained on the shuffled rewards. */
  readonly hasControl: boolean
}

/** A learning rate with which the embedded model learns; the server's own default is meant for large ones. */
const TINY_LEARNING_RATE = '0.003'

export const EMPTY_CHOICES: JobChoices = {
  rewards: [EMPTY_REWARD],
  rollout_by: 'call',
  group_by: 'inputs.messages',
  limit: '1000',
  heldOut: '20',
  split_seed: '0',
  takenModels: '',
  modelId: '',
  name: '',
  base: 'tiny',
  learning_rate: TINY_LEARNING_RATE,
  ppo: false,
  scale_rewards: true,
  hasControl: false,
}

interface JobFormProps {
  readonly sources: readonly RewardSource[]
  readonly models: readonly Model[]
  readonly choices: JobChoices
  readonly onChange: (choices: JobChoices) => void
}

export function JobForm({ sources, models, choices, onChange }: JobFormProps) {
  const set = (change: Partial<JobChoices>) => onChange({ ...choices, ...change })
  const field = { choices, set }
  return html`<form class="choices" onSubmit=${(event: Event) => event.preventDefault()}>
    <fieldset>
      <legend><h2>2. Reward</h2></legend>
      <${RewardFields} sources=${sources} rewards=${choices.rewards} onChange=${(rewards: readonly RewardChoice[]) => set({ rewards })} />
    </fieldset>
    <fieldset>
      <legend><h2>3. Groups and split</h2></legend>
      <${Choice} ...${field} name="rollout_by" label="A rollout is">
        <option value="call">a call</option><option value="trace_id">a trace</option><option value="thread_id">a thread</option>
      <//>
      <${Field} ...${field} name="group_by" label="A group has the same" />
      <${Field} ...${field} name="limit" label="Calls at most" type="number" min="1" max="10000" />
      <${Field} ...${field} name="takenModels" label="Responses of" placeholder="the model and its base" />
      <${Field} ...${field} name="heldOut" label="Prompts held out, %" type="number" min="0" max="90" step="any" />
      <${Field} ...${field} name="split_seed" label="Seed of the split" type="number" min="0" />
    </fieldset>
    <fieldset>
      <legend><h2>4. Model</h2></legend>
      <${Choice} ...${field} name="modelId" label="Model">
        ${models.map(({ id, name, base_model }) => html`<option key=${id} value=${id}>${name} (from ${base_model})</option>`)}
        <option value="">a new one</option>
      <//>
      ${
        choices.modelId === '' &&
        html`<${Field} ...${field} name="name" label="Name of the new model" placeholder="owl" />
          <${Field} ...${field} name="base" label="Trained from" />`
      }
      <${Field} ...${field} name="learning_rate" label="Learning rate" type="number" min="0" step="any" placeholder="the default" />
      <${Check} ...${field} name="scale_rewards" label="Divide rewards by the deviation of their group" />
      <${Check} ...${field} name="ppo" label="The loss of PPO" />
      <${Check} ...${field} name="hasControl" label="Train a control beside it, on shuffled rewards" />
    </fieldset>
  </form>`
}

interface FieldProps {
  readonly choices: JobChoices
  readonly set: (change: Partial<JobChoices>) => void
  readonly name: Exclude<keyof JobChoices, 'rewards'>
  readonly label: string
}

interface ChoiceProps extends FieldProps {
  readonly children?: ComponentChildren
}

function Choice({ choices, set, name, label, children }: ChoiceProps) {
  const change = (event: Event) => set({ [name]: (event.target as HTMLSelectElement).value })
  return html`<label>${label}<select value=${choices[name]} onChange=${change}>${children}</select></label>`
}

function Field({ choices, set, name, label, ...input }: FieldProps & Record<string, unknown>) {
  const change = (event: Event) => set({ [name]: (event.target as HTMLInputElement).value })
  return html`<label>${label}<input ...${input} value=${choices[name]} onInput=${change} /></label>`
}

function Check({ choices, set, name, label }: FieldProps) {
  return html`<label class="check">
    <input type="checkbox" checked=${choices[name]} onChange=${() => set({ [name]: !choices[name] })} />
    ${label}
  </label>`
}
