/** A prompt that is not a chat: a text or tokens, used unchanged. */
import { ApiError } from '../../../errors.ts'
import { promptTooLong } from './chat-prompt.ts'
import type { Tokenizer } from './tokenizer.ts'

export interface PlainPrompt {
  readonly plain: string | readonly number[]
  /** The field of the request, such as `prompt[2]`. */
  readonly param: string
  /** Whether the answer begins with it. */
  readonly isEchoed: boolean
  /** Whether the token that begins a text comes first, if the model has one. */
  readonly addSpecialTokens: boolean
  /** Always absent; present so that all prompts have the same fields. */
  readonly template: null
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

/** @throws ApiError invalid_value */
export function requireIds(ids: readonly number[], size: number, param: string): void {
  const strange = ids.find((id) => id >= size)
  if (strange === undefined) return
  throw new ApiError('invalid_value', {
    message: `${param} holds the token id ${strange}; the vocabulary has ids 0 to ${size - 1}.`,
    param,
  })
}
