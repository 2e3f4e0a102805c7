/** Rollouts as lines of training data in the formats of other trainers. Pure. */
import type { ExportFormat } from '../../../schemas/training/training-export.ts'
import type { Trajectory } from '../../../schemas/training/trajectory.ts'
import { isObject } from '../../json/is-object.ts'
import { textOrNull } from '../../json/json-values.ts'
import { meanOf } from '../advantages.ts'
import { choicesByHistory, type Item, type SampledChoice } from '../sampled-choices.ts'
import type { BuiltGroup } from './trajectory-groups.ts'
import { toEpisode } from './verifiers-episode.ts'

interface ExportRules {
  readonly format: ExportFormat
  /** Least reward of examples to imitate; null: the best of each group. */
  readonly rewardMin: number | null
}

/** A response with what it was made from, as messages of the chat API. */
interface Example {
  readonly prompt: readonly Item[]
  readonly response: Item
  readonly tools: readonly unknown[] | null
  readonly reward: number
}

/**
 * Returns the lines of one group. Formats with one response a line have the first choice of rollouts; `art` and
 * `verifiers` have everything.
 *
 * Spec: §2.12 trajectory_groups (no other formats). Choice: preferences are the best and the worst response of a group
 * whose rewards differ.
 */
export function renderExportLines(group: BuiltGroup, { format, rewardMin }: ExportRules): object[] {
  if (format === 'art') return [group]
  if (format === 'verifiers') return [toEpisode(group)]
  const isForTrl = format.startsWith('trl_')
  const examples = group.trajectories.flatMap(readExample)
  const usable = isForTrl ? examples.filter(isText) : examples
  const sorted = usable.toSorted((one, other) => other.reward - one.reward)
  const [best, worst] = [sorted[0], sorted.at(-1)]
  if (best === undefined || worst === undefined) return []
  switch (format) {
    case 'trl_grpo':
      return [
        {
          prompt: best.prompt,
          ...trlTools(best),
          best_response: textOf(best.response),
          best_reward: best.reward,
          mean_reward: meanOf(usable.map(({ reward }) => reward)),
        },
      ]
    case 'openai_rft':
      return [
        {
          messages: best.prompt,
          ...openAiTools(best),
          reference_response: textOf(best.response),
          reference_reward: best.reward,
        },
      ]
    case 'trl_sft':
    case 'openai_sft': {
      const chosen =
        rewardMin === null ? [best] : sorted.filter(({ reward }) => reward >= rewardMin)
      return chosen.map((one) =>
        isForTrl
          ? { prompt: one.prompt, completion: [one.response], ...trlTools(one) }
          : { messages: [...one.prompt, one.response], ...openAiTools(one) },
      )
    }
    default:
      return isPreference(best, worst) ? [renderPreference(best, worst, isForTrl)] : []
  }
}

function renderPreference(best: Example, worst: Example, isForTrl: boolean): object {
  const [chosen, rejected] = [[best.response], [worst.response]]
  if (isForTrl) return { prompt: best.prompt, chosen, rejected, ...trlTools(best) }
  return {
    input: { messages: best.prompt, ...openAiTools(best) },
    preferred_output: chosen,
    non_preferred_output: rejected,
  }
}

function isPreference(best: Example, worst: Example): boolean {
  return (
    best.reward > worst.reward && JSON.stringify(best.response) !== JSON.stringify(worst.response)
  )
}

function readExample(trajectory: Trajectory): Example[] {
  const [choice] = choicesByHistory(trajectory).flat()
  const message = choice?.choice.message
  if (choice === undefined || !isObject(message)) return []
  return [
    {
      prompt: choice.items.slice(0, choice.contextLength).map(toMessage),
      response: toMessage({ role: 'assistant', ...message }),
      tools: readTools(choice),
      reward: trajectory.reward ?? 0,
    },
  ]
}

function readTools({ tools }: SampledChoice): readonly unknown[] | null {
  return Array.isArray(tools) && tools.length > 0 ? tools : null
}

/** Members of messages that trainers know. */
const MEMBERS = ['role', 'content', 'name', 'tool_calls', 'tool_call_id'] as const

/** Returns a message without what only responses have. Parts that are texts are joined: loaders want one type a column. */
function toMessage(item: Item): Item {
  const message = isObject(item.message) ? item.message : item
  const members = MEMBERS.flatMap((name) => {
    const value = name === 'content' ? joinTexts(message.content) : message[name]
    const isNone = value === undefined || (value === null && name !== 'content')
    const isEmpty = name === 'tool_calls' && Array.isArray(value) && value.length === 0
    return isNone || isEmpty ? [] : [[name, value] as const]
  })
  return Object.fromEntries(members)
}

function joinTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const texts = content.map((part) => {
    if (typeof part === 'string') return part
    return isObject(part) && part.type === 'text' ? textOrNull(part.text) : null
  })
  return texts.includes(null) ? content : texts.join('')
}

/** Whether all contents are texts; the columns of TRL hold nothing else beside them. */
function isText({ prompt, response }: Example): boolean {
  return [...prompt, response].every(({ content }) => !Array.isArray(content))
}

function textOf({ content }: Item): string {
  return textOrNull(content) ?? ''
}

/** As JSON text, which TRL takes: loaders make one type of the objects of a column, so that tools get the parameters of others. */
function trlTools({ tools }: Example): object {
  return tools === null ? {} : { tools: JSON.stringify(tools) }
}

function openAiTools({ tools }: Example): object {
  return tools === null ? {} : { tools }
}
