/** Fields that several kinds of requests to models have: the model, the user and the inputs. */

import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedText,
  optionalField,
  ruleError,
} from '../bounded-fields.ts'

export const MODEL_CHARS_MAX = 512
const USER_CHARS_MAX = 1_024

export const userText = () => boundedText({ max: USER_CHARS_MAX })

export const model = optionalField(
  boundedText({ max: MODEL_CHARS_MAX }),
  'Id or alias of the model; the default model of the server when absent.',
)
export const user = optionalField(userText(), 'Who the request is made for.')

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
