/** A prompt that is not a chat: a text or tokens, used unchanged. */
import { refuse } from '../../../errors.ts'
import { promptTooLong } from './chat-prompt.ts'
import type { PromptRequest } from './prompt-plan.ts'
import type { Tokenizer } from './tokenizer.ts'

export interface PlainPrompt {
  readonly plain: string | readonly number[]
  /** The field of the request, such as `prompt[2]`. */
  readonly param: string
  /** Whether the answer begins with it. */
  readonly isEchoed: boolean
  /** Whether the token that begins a text comes first, if the model has one. */
  readonly addSpecialTokens: boolean
}

/** The field of the request that a prompt comes from. */
export function promptParam(prompt: PlainPrompt | PromptRequest): string {
  return 'plain' in prompt ? prompt.param : 'messages'
}

/**
 * Its ids. Plain text never becomes a control token; ids may be any of the vocabulary.
 *
 * @param tokensMax - how many there may be at the most
 * @throws ApiError context_length_exceeded, invalid_value for ids that the vocabulary lacks
 */
export function encodePlain(
  tokenizer: Tokenizer,
  { plain, param, addSpecialTokens }: PlainPrompt,
  tokensMax: number,
): number[] {
  const begin = addSpecialTokens && tokenizer.beginId !== null ? [tokenizer.beginId] : []
  if (typeof plain !== 'string') {
    requireIds(plain, tokenizer.size, param)
    return [...begin, ...plain]
  }
  // No token has more bytes than the longest one, so that this surely does not fit.
  if (plain.length > tokensMax * tokenizer.tokenBytesMax)
    throw promptTooLong(tokensMax, null, param)
  return [...begin, ...tokenizer.encode(plain)]
}

/** @throws ApiError invalid_value for an id outside the vocabulary, whose size is given */
export function requireIds(ids: Iterable<number>, size: number, param: string): void {
  for (const id of ids) {
    if (id < size) continue
    const rule = `names the token id ${id}; the vocabulary has ids 0 to ${size - 1}.`
    refuse('invalid_value', param, `${param} ${rule}`)
  }
}
