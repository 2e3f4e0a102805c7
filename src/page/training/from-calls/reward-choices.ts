/** The rewards that the form of a training job adds up, and what the server is sent of them. Pure. */
import type { RewardSource } from './reward-sources.ts'

/** As texts; empty: not set. */
export interface RewardChoice {
  /** Name of a source of rewards; '' means the first, OWN the type and expression below. */
  readonly source: string
  readonly feedback_type: string
  /** JSON of an operation over the feedback. */
  readonly expression: string
  readonly weight: string
  /** Reward of rollouts without such feedback; '' leaves them out. */
  readonly missing: string
  readonly combine: string
}

export const OWN = 'own'

export const EMPTY_REWARD: RewardChoice = {
  source: '',
  feedback_type: '',
  expression: '',
  weight: '1',
  missing: '',
  combine: 'newest',
}

/** The rewards in the address of the form. @param text - JSON, or the name of one source */
export function readRewardChoices(text: string | null): readonly RewardChoice[] {
  if (text === null || text === '') return [EMPTY_REWARD]
  try {
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list) && list.length > 0) return list.map(readChoice)
  } catch {
    // Links to one source have its name alone.
  }
  return [{ ...EMPTY_REWARD, source: text }]
}

function readChoice(value: unknown): RewardChoice {
  const texts = Object.entries(value ?? {}).filter(([, text]) => typeof text === 'string')
  return { ...EMPTY_REWARD, ...Object.fromEntries(texts) }
}

/** '' for what the form begins with. */
export function printRewardChoices(choices: readonly RewardChoice[]): string {
  const short = choices.map((choice) =>
    Object.fromEntries(
      Object.entries(choice).filter(([name, text]) => text !== EMPTY_REWARD[name as 'source']),
    ),
  )
  const text = JSON.stringify(short)
  return text === '[{}]' ? '' : text
}

export function chosenSource(
  sources: readonly RewardSource[],
  { source }: RewardChoice,
): RewardSource | null {
  return (source === '' ? sources[0] : sources.find(({ name }) => name === source)) ?? null
}

/** A reward as a request has it; null: the project has no feedback that could be one. @throws Error in words for people */
function toReward(choice: RewardChoice, sources: readonly RewardSource[]): object | null {
  const { combine, weight, missing } = choice
  const rest = {
    combine,
    weight: Number(weight || '1'),
    ...(missing === '' ? {} : { missing: Number(missing) }),
  }
  if (choice.source !== OWN) {
    const source = chosenSource(sources, choice)
    if (source === null && choice.source !== '')
      throw new Error(`“${choice.source}” names no feedback: choose the feedback of the reward.`)
    return source && { feedback_type: source.feedback_type, ...source.reward, ...rest }
  }
  if (choice.feedback_type.trim() === '')
    throw new Error('The expression needs a type of feedback.')
  try {
    const expression: unknown = JSON.parse(choice.expression)
    return { feedback_type: choice.feedback_type.trim(), expression, ...rest }
  } catch {
    throw new Error(
      'The expression must be JSON, such as {"$max": [{"$getField": "payload.score"}, {"$literal": 0}]}.',
    )
  }
}

/** What is wrong with the rewards, in words, or the rewards; none: the project has no feedback that could be one. */
export function toRewards(
  choices: readonly RewardChoice[],
  sources: readonly RewardSource[],
): { readonly rewards: readonly object[]; readonly problem: string | null } {
  try {
    const rewards = choices.map((choice) => toReward(choice, sources))
    return { rewards: rewards.filter((reward) => reward !== null), problem: null }
  } catch (error) {
    return { rewards: [], problem: (error as Error).message }
  }
}
