/** Log-probabilities in the form of legacy completions: one list for each kind of number. Pure. */
import type { ChoiceDelta, PromptLogprobs } from '../../backend.ts'

/** A token with what was likely in its place; null for the first token of a prompt, which nothing predicts. */
export interface JudgedToken {
  readonly token: string
  readonly logprob: number | null
  readonly top: Readonly<Record<string, number>> | null
}

export interface LegacyLogprobs {
  readonly tokens: readonly string[]
  readonly token_logprobs: ReadonlyArray<number | null>
  readonly top_logprobs: ReadonlyArray<Readonly<Record<string, number>> | null>
  /** Where in the text each token begins, in characters. */
  readonly text_offset: readonly number[]
}

/** @param offset - where the first one begins */
export function renderLogprobs(tokens: readonly JudgedToken[], offset: number): LegacyLogprobs {
  let at = offset
  const text_offset = tokens.map(({ token }) => {
    const own = at
    at += token.length
    return own
  })
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top }) => top),
    text_offset,
  }
}

/** The tokens of a piece of an answer. The likeliest ones and the one that was drawn. */
export function judgeTokens({ logprobs }: ChoiceDelta): JudgedToken[] {
  return (logprobs ?? []).map(({ token, logprob, top_logprobs }) => ({
    token,
    logprob,
    top: Object.fromEntries([
      ...top_logprobs.map((one) => [one.token, one.logprob] as const),
      [token, logprob],
    ]),
  }))
}

/**
 * The tokens of a prompt.
 *
 * @param logprobs - of each by id, null for the first
 */
export function judgePrompt(
  ids: readonly number[],
  texts: readonly string[],
  logprobs: PromptLogprobs,
): JudgedToken[] {
  return ids.map((id, place) => {
    const token = texts[place] ?? ''
    const known = logprobs[place] ?? null
    if (known === null) return { token, logprob: null, top: null }
    const top = Object.values(known).map((one) => [one.decoded_token, one.logprob] as const)
    return { token, logprob: known[`${id}`]?.logprob ?? null, top: Object.fromEntries(top) }
  })
}
