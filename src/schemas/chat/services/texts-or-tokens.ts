/** The inputs of embeddings and legacy completions: texts or ids of tokens, one or several. */
import { z } from 'zod'
import { boundedInteger, boundedList, ruleError } from '../../bounded-fields.ts'

/** Limits: inputs of one request, and tokens of one of them. */
const INPUTS_MAX = 2_048
const TOKENS_MAX = 1_048_576

const Token = boundedInteger('a token id', { min: 0, max: 2_147_483_647 })
const Tokens = boundedList(Token, { min: 1, max: TOKENS_MAX })
const listOf = <T extends z.ZodType>(input: T) => boundedList(input, { min: 1, max: INPUTS_MAX })

export const TEXTS_RULE = `a string, a list of token ids, or a list of 1 to ${INPUTS_MAX} of either`

export const TextsOrTokens = z.union(
  [z.string(), listOf(z.string()), Tokens, listOf(Tokens)],
  ruleError(TEXTS_RULE),
)
