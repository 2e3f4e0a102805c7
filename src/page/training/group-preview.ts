/** Preview of the training data: number of rollouts, rollouts left out, and groups with their rewards. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { formatCalls, formatCount, formatNumber, preview } from '../parts/format.ts'

/** Rows that are shown at first. */
const SHOWN = 20

interface Group {
  readonly trajectories: readonly Trajectory[]
}

interface Trajectory {
  readonly reward: number
  readonly messages_and_choices: readonly Item[]
}

interface Item {
  readonly content?: unknown
  readonly message?: { readonly content?: unknown }
}

export interface GroupsResponse {
  readonly trajectory_groups: readonly Group[]
  readonly stats: {
    readonly calls: number
    readonly groups: number
    readonly trajectories: number
    readonly left_out: Readonly<Record<string, number>>
  }
}

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
  same_reward: 'the reward of all others in their group',
}

/** Whether the rewards of a group differ; otherwise nothing can be learned from it. */
function teaches({ trajectories }: Group): boolean {
  return new Set(trajectories.map(({ reward }) => reward)).size > 1
}

export function GroupPreview({ answer }: { readonly answer: GroupsResponse }) {
  const [isWhole, setWhole] = useState(false)
  const { stats, trajectory_groups: groups } = answer
  const shown = isWhole ? groups : groups.slice(0, SHOWN)
  const left = Object.entries(stats.left_out).filter(([, count]) => count > 0)
  const teaching = groups.filter(teaches).length
  return html`<p>
      <b>${formatCount(stats.trajectories)} ${stats.trajectories === 1 ? 'rollout' : 'rollouts'} in ${formatCount(stats.groups)} ${stats.groups === 1 ? 'group' : 'groups'}</b>${' '}
      of ${formatCalls(stats.calls)}.
      ${left.map(([reason, count], at) => html`<span key=${reason} class="faint">${at === 0 ? ' Left out: ' : ', '}${formatCount(count)} with ${LEFT_OUT[reason] ?? reason}</span>`)}
    </p>
    ${
      groups.length > 0 &&
      teaching < groups.length &&
      html`<p class="status running">${teaching} of ${groups.length} groups have rewards that differ; the others teach nothing.</p>`
    }
    ${
      groups.length > 0 &&
      html`<div class="scroll" tabindex="0"><table class="list" aria-label="Groups">
        <thead><tr>
          <th scope="col">Task</th><th scope="col" class="number">Rollouts</th>
          <th scope="col" class="number">Lowest reward</th><th scope="col" class="number">Mean</th>
          <th scope="col" class="number">Highest</th><th scope="col">Best answer</th>
        </tr></thead>
        <tbody>${shown.map((group, at) => html`<${GroupRow} key=${at} group=${group} />`)}</tbody>
      </table></div>`
    }
    ${groups.length > shown.length && html`<button type="button" onClick=${() => setWhole(true)}>${groups.length - shown.length} more</button>`}`
}

function GroupRow({ group: { trajectories } }: { readonly group: Group }) {
  const rewards = trajectories.map(({ reward }) => reward)
  const best = Math.max(...rewards)
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  const task = trajectories[0]?.messages_and_choices.findLast(({ message }) => !message)
  const answer = trajectories.find(({ reward }) => reward === best)?.messages_and_choices.at(-1)
  return html`<tr>
    <td class="wrap">${preview(task?.content)}</td>
    <td class="number">${trajectories.length}</td>
    <td class="number">${formatNumber(Math.min(...rewards))}</td>
    <td class="number">${formatNumber(mean)}</td>
    <td class="number">${formatNumber(best)}</td>
    <td class="faint wrap">${preview(answer?.message?.content ?? answer?.content)}</td>
  </tr>`
}
