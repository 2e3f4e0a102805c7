/** The fields of the rewards that are added up. */
import { html } from 'htm/preact'
import { focusNeighbour } from '../../parts/neighbour.ts'
import { chosenSource, EMPTY_REWARD, OWN, type RewardChoice } from './reward-choices.ts'
import type { RewardSource } from './reward-sources.ts'

interface RewardFieldsProps {
  readonly sources: readonly RewardSource[]
  readonly rewards: readonly RewardChoice[]
  readonly onChange: (rewards: readonly RewardChoice[]) => void
}

export function RewardFields({ sources, rewards, onChange }: RewardFieldsProps) {
  // A further reward is usually another kind of feedback.
  const chosen = rewards.map((reward) => chosenSource(sources, reward)?.name)
  const next = sources.find(({ name }) => !chosen.includes(name))?.name ?? OWN
  const add = () => onChange([...rewards, { ...EMPTY_REWARD, source: next }])
  return html`${rewards.map(
    (reward, index) =>
      html`<${Reward} key=${index} sources=${sources} reward=${reward} number=${rewards.length === 1 ? '' : ` ${index + 1}`}
        onChange=${(changed: RewardChoice) => onChange(rewards.with(index, changed))}
        onRemove=${rewards.length > 1 && (() => onChange(rewards.toSpliced(index, 1)))} />`,
  )}
    <button type="button" onClick=${add}>Add a reward</button>`
}

interface RewardProps {
  readonly sources: readonly RewardSource[]
  readonly reward: RewardChoice
  /** Label that its fields have and those of other rewards lack. */
  readonly number: string
  readonly onChange: (reward: RewardChoice) => void
  readonly onRemove: false | (() => void)
}

type FieldEvent = Event & {
  readonly currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
}

function Reward({ sources, reward, number, onChange, onRemove }: RewardProps) {
  const set = (name: keyof RewardChoice) => (event: FieldEvent) =>
    onChange({ ...reward, [name]: event.currentTarget.value })
  const remove = ({ currentTarget }: Event) => {
    const neighbours = {
      item: '.reward',
      button: 'select',
      instead: 'select',
      within: 'fieldset',
      isKeyedByIndex: true,
    }
    focusNeighbour(currentTarget as Element, neighbours)
    if (onRemove) onRemove()
  }
  const isOwn = reward.source === OWN
  return html`<div class="bar reward" role="group" aria-label=${`Reward${number}`}>
    <label>Feedback${number}
      <select value=${isOwn ? OWN : (chosenSource(sources, reward)?.name ?? '')} onChange=${set('source')}>
        ${sources.map(({ name, label, count }) => html`<option key=${name} value=${name}>${count > 0 ? `${label} (${count})` : label}</option>`)}
        <option value=${OWN}>an expression …</option>
      </select>
    </label>
    ${
      isOwn &&
      html`<label>Type of the feedback${number}<input maxlength="256" value=${reward.feedback_type} onInput=${set('feedback_type')} /></label>
        <label>Expression${number}<textarea rows="3" spellcheck=${false} placeholder='{"$max": [{"$getField": "payload.score"}, {"$literal": 0}]}' value=${reward.expression} onInput=${set('expression')}></textarea></label>`
    }
    <label>Of several${number}
      <select value=${reward.combine} onChange=${set('combine')}>
        <option value="newest">the newest</option><option value="mean">their mean</option>
      </select>
    </label>
    <label>Weight${number}<input class="short" type="number" step="any" value=${reward.weight} onInput=${set('weight')} /></label>
    <label>Where there is none${number}<input class="short" type="number" step="any" placeholder="left out" value=${reward.missing} onInput=${set('missing')} /></label>
    ${onRemove && html`<button type="button" class="quiet" onClick=${remove}>Remove reward${number}</button>`}
  </div>`
}
