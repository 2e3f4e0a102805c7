/** Preview of a training job: number of rollouts, rollouts left out, and groups with their rewards. */
import { html } from 'htm/preact'
import type { z } from 'zod'
import type {
  TaskExample,
  TrainingFromCallsResponse,
} from '../../../schemas/training/training-from-calls.ts'
import { formatCalls, formatCount, formatNumber, preview } from '../../parts/format.ts'

export type Preview = z.infer<typeof TrainingFromCallsResponse>

const LEFT_OUT: Readonly<Record<string, string>> = {
  no_chat: 'no chat in them',
  several_choices: 'a chat with several choices',
  unfinished: 'a chat without an end',
  other_model: 'responses of other models',
  redacted: 'redacted texts',
  truncated: 'responses cut at their token limit',
  too_long: 'too many characters',
  no_group: 'nothing at what groups them',
  no_reward: 'no feedback with the reward',
  not_a_trajectory: 'texts that cannot train',
  cut_by_limit: 'older calls beyond the limit',
  no_logprobs: 'no log probabilities',
  alone: 'no other in their group',
  same_reward: 'the same reward as all others in their group',
}

export function JobPreview({ preview: { stats, examples } }: { readonly preview: Preview }) {
  const left = Object.entries(stats.left_out).filter(([, count]) => count > 0)
  const { trajectories, groups, held_out_groups: heldOut } = stats
  return html`<p>
      <b>${countOf(trajectories, 'rollout')} in ${countOf(groups, 'group')}</b>${' '}
      of ${formatCalls(stats.calls)} to train on.
      ${heldOut > 0 && html` <b>${countOf(heldOut, 'group')}</b> with ${countOf(stats.held_out_trajectories, 'rollout')} held out.`}
    </p>
    ${left.length > 0 && html`<p class="faint">Left out: ${left.map(([reason, count]) => `${formatCount(count)} with ${LEFT_OUT[reason] ?? reason}`).join(', ')}.</p>`}
    ${groups === 0 && heldOut > 0 && html`<p class="status running">All of it is held out: take more prompts, or hold out a smaller share.</p>`}
    ${
      examples.length > 0 &&
      html`<div class="scroll" tabindex="0"><table class="list" aria-label="Groups">
        <thead><tr>
          <th scope="col">Task</th><th scope="col" class="number">Rollouts</th>
          <th scope="col" class="number">Lowest reward</th><th scope="col" class="number">Mean</th>
          <th scope="col" class="number">Highest</th><th scope="col">Best response</th>
        </tr></thead>
        <tbody>${examples.map((example, at) => html`<${GroupRow} key=${at} example=${example} />`)}</tbody>
      </table></div>`
    }
    ${groups > examples.length && html`<p class="faint">And ${countOf(groups - examples.length, 'more group')}.</p>`}`
}

function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

function GroupRow({ example }: { readonly example: TaskExample }) {
  return html`<tr>
    <td class="wrap">${preview(lastText(example.prompt))}</td>
    <td class="number">${example.trajectories}</td>
    <td class="number">${formatNumber(example.lowest_reward)}</td>
    <td class="number">${formatNumber(example.mean_reward)}</td>
    <td class="number">${formatNumber(example.highest_reward)}</td>
    <td class="faint wrap">${preview(lastText(example.rollouts[0]?.response ?? ''))}</td>
  </tr>`
}

/** The content of the last message of a JSON text, which may be cut. */
function lastText(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json)
    const last = (Array.isArray(value) ? value.at(-1) : value) as { content?: unknown } | null
    return last?.content ?? json
  } catch {
    return json
  }
}
