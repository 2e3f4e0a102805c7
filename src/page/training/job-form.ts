/** The choices that make a training job out of calls. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import type { RewardSource } from './reward-sources.ts'
import type { Model } from './training-api.ts'

export interface JobChoices {
  /** Name of a source of rewards; '' means the first. */
  readonly source: string
  readonly combine: 'newest' | 'mean'
  readonly rollout_by: 'call' | 'trace_id' | 'thread_id'
  readonly group_by: string
  /** Limit: calls. */
  readonly limit: string
  /** '' creates a model from `name` and `base`. */
  readonly modelId: string
  readonly name: string
  readonly base: string
  /** '' means the server's default. */
  readonly learning_rate: string
  readonly ppo: boolean
  readonly scale_rewards: boolean
}

/** A learning rate with which the embedded model learns; the server's own default is meant for large ones. */
const TINY_LEARNING_RATE = '0.003'

export const EMPTY_CHOICES: JobChoices = {
  source: '',
  combine: 'newest',
  rollout_by: 'call',
  group_by: 'inputs.messages',
  limit: '1000',
  modelId: '',
  name: '',
  base: 'tiny',
  learning_rate: TINY_LEARNING_RATE,
  ppo: false,
  scale_rewards: true,
}

export function chosenSource(
  sources: readonly RewardSource[],
  { source }: JobChoices,
): RewardSource | null {
  return sources.find(({ name }) => name === source) ?? sources[0] ?? null
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
      <${Choice} ...${field} name="source" label="Feedback" value=${chosenSource(sources, choices)?.name ?? ''}>
        ${sources.map(({ name, label, count }) => html`<option key=${name} value=${name}>${label} (${count})</option>`)}
      <//>
      <${Choice} ...${field} name="combine" label="Of several">
        <option value="newest">the newest</option><option value="mean">their mean</option>
      <//>
      <${Choice} ...${field} name="rollout_by" label="A rollout is">
        <option value="call">a call</option><option value="trace_id">a trace</option><option value="thread_id">a thread</option>
      <//>
      <${Field} ...${field} name="group_by" label="A group has the same" />
      <${Field} ...${field} name="limit" label="Calls at most" type="number" min="1" max="10000" />
    </fieldset>
    <fieldset>
      <legend><h2>3. Model</h2></legend>
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
      <${Check} ...${field} name="scale_rewards" label="divide rewards by the deviation of their group" />
      <${Check} ...${field} name="ppo" label="the loss of PPO" />
    </fieldset>
  </form>`
}

interface FieldProps {
  readonly choices: JobChoices
  readonly set: (change: Partial<JobChoices>) => void
  readonly name: keyof JobChoices
  readonly label: string
}

interface ChoiceProps extends FieldProps {
  readonly value?: string
  readonly children?: ComponentChildren
}

function Choice({ choices, set, name, label, value, children }: ChoiceProps) {
  const change = (event: Event) => set({ [name]: (event.target as HTMLSelectElement).value })
  return html`<label>${label}<select value=${value ?? choices[name]} onChange=${change}>${children}</select></label>`
}

function Field({ choices, set, name, label, ...input }: FieldProps & Record<string, unknown>) {
  const change = (event: Event) => set({ [name]: (event.target as HTMLInputElement).value })
  return html`<label>${label}<input ...${input} value=${choices[name]} onChange=${change} /></label>`
}

function Check({ choices, set, name, label }: FieldProps) {
  return html`<label class="check">
    <input type="checkbox" checked=${choices[name]} onChange=${() => set({ [name]: !choices[name] })} />
    ${label}
  </label>`
}
