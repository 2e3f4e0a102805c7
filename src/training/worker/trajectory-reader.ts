/**
 * Converts rollouts to token ids and marks those sampled by the model. Only choices are trained; messages
 * are context. It must never guess tokens: a choice with unknown tokens is not trained.
 */

import {
  choicesByHistory,
  type Item,
  type SampledChoice,
} from '../../domain/training/sampled-choices.ts'
import { ApiError } from '../../errors.ts'
import type { ChatPrompt } from '../../inference/tiny/text/chat-prompt.ts'
import { planPrompt } from '../../inference/tiny/text/prompt-plan.ts'
import type { Tokenizer } from '../../inference/tiny/text/tokenizer.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { Trajectory } from '../../schemas/training/trajectory.ts'
import { isTrajectoryChoice } from '../../schemas/training/trajectory-choice.ts'
import type { UntrainedReason } from '../../schemas/training/worker.ts'

/** One sequence of tokens, with the positions to train. */
export interface TrainingSequence {
  readonly ids: readonly number[]
  /** Positions of the trained tokens, ascending; never the first token. */
  readonly places: readonly number[]
  /** Log-probabilities of the trained tokens when they were sampled; NaN if unknown. */
  readonly sampled: readonly number[]
}

/** Reads rollouts of one model. */
export interface TrajectoryReader {
  /**
   * Returns the sequences of a rollout, one or more, or why there are none.
   *
   * @throws TrajectoryError for a rollout that cannot be one of this model
   */
  read(trajectory: Trajectory): readonly TrainingSequence[] | UntrainedReason
}

/** Thrown for a rollout that does not fit the model; the message contains no text of it. */
export class TrajectoryError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'TrajectoryError'
  }
}

/** The known tokens of a choice. */
interface ChoiceTokens {
  readonly ids: readonly number[]
  readonly sampled: readonly number[]
}

interface OpenSequence {
  ids: number[]
  readonly places: number[]
  readonly sampled: number[]
}

const TOKEN_ID = /^token_id:(\d{1,9})$/

/**
 * Creates a reader for one model.
 *
 * A choice's tokens are its `token_ids`, or those that its log-probabilities name as `token_id:<id>`, or
 * those whose bytes they give; its prompt is its `prompt_token_ids`, or else the messages before it in
 * the chat template. A choice whose prompt continues the tokens of the previous one joins its sequence.
 *
 * @param contextTokens - maximum tokens of prompt and answers together
 *
 * Spec: §2.12 messages_and_choices, additional_histories, tools (meaning not shown).
 * Choice: an assistant message that is no choice is context; tokens without a log-probability train. Those
 * of a choice may be fewer than its ids, since a reasoning has ids alone; then none counts, because nothing
 * tells which tokens they are of.
 */
export function createTrajectoryReader(
  tokenizer: Tokenizer,
  prompt: ChatPrompt,
  contextTokens: number,
): TrajectoryReader {
  const idOf = new Map<string, number>()
  for (let id = 0; id < tokenizer.size; id++) idOf.set(spell(tokenizer.bytesOf(id)), id)

  function readChoice(choice: Item): ChoiceTokens | null {
    const entries = logprobEntries(choice)
    const named = readIds(choice, 'token_ids')
    const ids = named ?? entries?.map(readEntryId) ?? null
    if (ids !== null && entries !== null && entries.length > ids.length) {
      throw new TrajectoryError('logprobs.content of a choice has more tokens than token_ids')
    }
    if (ids === null || ids.length === 0 || ids.includes(-1)) return null
    const isTold = entries !== null && entries.length === ids.length
    const sampled = ids.map((_, i) => (isTold ? Number(entries[i]?.logprob) : Number.NaN))
    return { ids, sampled }
  }

  function readEntryId({ token, bytes }: Item): number {
    const text = String(token)
    const named = TOKEN_ID.exec(text)
    if (named !== null) return Number(named[1])
    const spelt = Array.isArray(bytes) ? Uint8Array.from(bytes) : new TextEncoder().encode(text)
    return idOf.get(spell(spelt)) ?? -1
  }

  function readPrompt({ choice, items, contextLength, tools }: SampledChoice): number[] {
    const named = readIds(choice, 'prompt_token_ids')
    if (named !== null) return named
    // Parsed like a chat request, so that a rollout's prompt has the same tokens.
    const messages = items.slice(0, contextLength).map(toMessage)
    const request = { messages, tools: tools ?? null }
    const plan = planPrompt(request as unknown as ChatCompletionRequest)
    return prompt.encode({ ...plan, tokensKept: null })
  }

  function readHistory(history: readonly SampledChoice[]): OpenSequence[] {
    const sequences: OpenSequence[] = []
    for (const sampled of history) {
      const tokens = readChoice(sampled.choice)
      if (tokens === null) continue
      const ids = readPrompt(sampled)
      const last = sequences.at(-1)
      requireConstraintSize(ids.length + tokens.ids.length)
      const isNext = last !== undefined && startsWith(ids, last.ids)
      const sequence = isNext ? last : { ids: [], places: [], sampled: [] }
      if (!isNext) sequences.push(sequence)
      sequence.ids = [...ids, ...tokens.ids]
      sequence.places.push(...tokens.ids.map((_, i) => ids.length + i))
      sequence.sampled.push(...tokens.sampled)
    }
    return sequences
  }

  function requireConstraintSize(count: number): void {
    if (count <= contextTokens) return
    throw new TrajectoryError(`a history has ${count} tokens, more than ${contextTokens}`)
  }

  function requireFit({ ids, places }: OpenSequence): void {
    if (places[0] === 0) throw new TrajectoryError('a choice has an empty prompt')
    if (ids.some((id) => id >= tokenizer.size)) {
      throw new TrajectoryError('a token id is outside of the vocabulary of the model')
    }
  }

  return {
    read(trajectory) {
      const histories = choicesByHistory(trajectory)
      if (histories.every((choices) => choices.length === 0)) return 'no_choice'
      try {
        const sequences = histories.flatMap(readHistory)
        for (const sequence of sequences) requireFit(sequence)
        return sequences.length === 0 ? 'no_logprobs' : sequences
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        throw new TrajectoryError(error.message, error)
      }
    },
  }
}

/** Converts a choice to the message that later turns see. */
function toMessage(item: Item): unknown {
  return isTrajectoryChoice(item) ? item.message : item
}

function logprobEntries({ logprobs }: Item): readonly Item[] | null {
  const content = (logprobs as { readonly content?: unknown } | null | undefined)?.content
  return Array.isArray(content) ? content : null
}

/** Null when the choice has none. @throws TrajectoryError for anything but ids */
function readIds(choice: Item, field: 'token_ids' | 'prompt_token_ids'): number[] | null {
  const value = choice[field] ?? null
  if (value === null) return null
  const isId = (id: unknown) => Number.isSafeInteger(id) && Number(id) >= 0
  if (Array.isArray(value) && value.every(isId)) return value
  throw new TrajectoryError(`${field} of a choice are no list of token ids`)
}

function startsWith(ids: readonly number[], start: readonly number[]): boolean {
  return ids.length >= start.length && start.every((id, place) => ids[place] === id)
}

/** Converts bytes to a string with one character per byte. */
function spell(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
