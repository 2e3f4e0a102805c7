/** A group of rollouts as an episode of the package verifiers, with one trace a rollout. Pure. */
import type { Trajectory } from '../../../schemas/training/trajectory.ts'
import { isObject } from '../../json/is-object.ts'
import { textOrNull } from '../../json/json-values.ts'
import { choicesByHistory, type Item, type SampledChoice } from '../sampled-choices.ts'
import type { BuiltGroup } from './trajectory-groups.ts'

/** A message with the tokens that it adds to those before it. */
interface Node {
  readonly parent: number | null
  readonly message: Item
  readonly sampled: boolean
  readonly token_ids: readonly number[]
  readonly mask: readonly boolean[]
  readonly logprobs: readonly number[]
}

const TASK_TYPE = 'WeftTask'

export function toEpisode({ trajectories }: BuiltGroup): object {
  const [first] = choicesByHistory(trajectories[0] ?? {}).flat()
  const prompt = (first?.items ?? []).slice(0, first?.contextLength).map(toMessage)
  const task = { type: TASK_TYPE, data: { prompt } }
  return { task, ok: true, traces: trajectories.map((trajectory) => toTrace(trajectory, task)) }
}

function toTrace(trajectory: Trajectory, task: object): object {
  const choices = choicesByHistory(trajectory).flat()
  const nodes: Node[] = []
  for (const choice of choices) addNodes(nodes, choice)
  return {
    task,
    agent: { config: {} },
    tools: readTools(choices[0]),
    nodes,
    rewards: { reward: { score: trajectory.reward ?? 0 } },
    info: trajectory.metadata ?? {},
    is_completed: true,
    ok: true,
  }
}

/** Adds a path of its own for each choice. The tokens of a whole prompt are those of its last message. */
function addNodes(nodes: Node[], { choice, items, contextLength }: SampledChoice): void {
  const promptIds = numbersOf(choice.prompt_token_ids)
  const before = items.slice(0, contextLength)
  for (const [index, item] of before.entries()) {
    const token_ids = index === before.length - 1 ? promptIds : []
    nodes.push({
      parent: index === 0 ? null : nodes.length - 1,
      message: toMessage(item),
      sampled: false,
      token_ids,
      mask: token_ids.map(() => false),
      logprobs: [],
    })
  }
  const ids = numbersOf(choice.token_ids)
  const entries =
    isObject(choice.logprobs) && Array.isArray(choice.logprobs.content)
      ? choice.logprobs.content
      : []
  const logprobs = entries.map((entry) => (isObject(entry) ? Number(entry.logprob) : 0))
  nodes.push({
    parent: before.length === 0 ? null : nodes.length - 1,
    message: toMessage({ role: 'assistant', ...(isObject(choice.message) ? choice.message : {}) }),
    sampled: true,
    token_ids: ids,
    mask: ids.map(() => true),
    logprobs: ids.length === logprobs.length ? logprobs : [],
  })
}

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'number') : []
}

/** A tool's name is beside its description there, not within a function; so are those of calls. */
function readTools(choice: SampledChoice | undefined): object[] {
  const tools = Array.isArray(choice?.tools) ? choice.tools : []
  return tools.flatMap((tool) => (isObject(tool) && isObject(tool.function) ? [tool.function] : []))
}

function toMessage(item: Item): Item {
  const {
    role,
    content = null,
    tool_calls,
    tool_call_id,
    name,
  } = isObject(item.message) ? item.message : item
  const said = { content: Array.isArray(content) ? content.map(toPart) : content }
  if (role === 'developer') return { role: 'system', ...said }
  if (role === 'tool') return { role, tool_call_id, ...said, ...(name ? { name } : {}) }
  if (role !== 'assistant') return { role, content: said.content ?? '' }
  const calls = Array.isArray(tool_calls) ? tool_calls.flatMap(toToolCall) : []
  return { role, content: textOrNull(content), ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

function toPart(part: unknown): unknown {
  return typeof part === 'string' ? { type: 'text', text: part } : part
}

function toToolCall(call: unknown): object[] {
  if (!isObject(call) || !isObject(call.function)) return []
  const { name, arguments: text } = call.function
  return [{ id: call.id, type: 'function', name, arguments: textOrNull(text) ?? '' }]
}
