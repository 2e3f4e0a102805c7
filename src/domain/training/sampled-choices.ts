/** Finds the choices of a rollout, which train, in its histories and exchanges. Pure. */
import type { Trajectory } from '../../schemas/training/trajectory.ts'
import { isTrajectoryChoice } from '../../schemas/training/trajectory-choice.ts'
import { isObject } from '../json/is-object.ts'

export type Item = Readonly<Record<string, unknown>>

/** A choice that a model made, with what it was sent. */
export interface SampledChoice {
  readonly choice: Item
  /** The context is the first `contextLength` of these messages and choices. */
  readonly items: readonly Item[]
  readonly contextLength: number
  readonly tools: unknown
}

/**
 * The choices of a rollout by history, in their order. The exchanges of a rollout are one history: each response
 * with choices has its own context, which may continue that of the previous one.
 *
 * Spec: §2.12 messages_and_choices, additional_histories.
 */
export function choicesByHistory(trajectory: Trajectory): SampledChoice[][] {
  const own = {
    messages_and_choices: trajectory.messages_and_choices ?? [],
    tools: trajectory.tools,
  }
  const histories = [own, ...(trajectory.additional_histories ?? [])].map(
    ({ messages_and_choices: items, tools }) =>
      items.flatMap((choice, contextLength) =>
        isTrajectoryChoice(choice) ? [{ choice, items, contextLength, tools }] : [],
      ),
  )
  return [...histories, (trajectory.exchanges?.chat_completions ?? []).flatMap(choicesOfExchange)]
}

type Exchange = NonNullable<NonNullable<Trajectory['exchanges']>['chat_completions']>[number]

/**
 * Returns the choices of an exchange. A response has the ids of its prompt next to its choices; an item of a
 * history has them itself.
 */
function choicesOfExchange({ request, response }: Exchange): SampledChoice[] {
  const { messages: items, tools } = request
  const { choices, prompt_token_ids } = response
  return choices.map((choice) => ({
    choice: { ...choice, prompt_token_ids: choice.prompt_token_ids ?? prompt_token_ids },
    items,
    contextLength: items.length,
    tools,
  }))
}

/** Whether some choice of a rollout has log probabilities, without which nothing trains. */
export function hasLogprobs(trajectory: Trajectory): boolean {
  const hasOwn = ({ choice }: SampledChoice) => {
    const content = isObject(choice.logprobs) ? choice.logprobs.content : null
    return Array.isArray(content) && content.length > 0
  }
  return choicesByHistory(trajectory).some((choices) => choices.some(hasOwn))
}
