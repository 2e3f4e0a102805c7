/** `POST /v1/tokenize` and `/v1/detokenize` on the wire, additions to the spec: the fields of vLLM; unknown ones pass. */
import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedText,
  flag,
  optionalField,
  optionalFlag,
  ruleError,
} from '../../bounded-fields.ts'
import { ChatCompletionRequest } from '../chat-request.ts'
import { model } from '../input-fields.ts'

const PROMPT_CHARS_MAX = 4_194_304
const TOKENS_MAX = 1_048_576

const { messages, tools, add_generation_prompt, continue_final_message, chat_template_kwargs } =
  ChatCompletionRequest.shape

export const TokenizeRequest = z
  .looseObject(
    {
      model,
      prompt: optionalField(
        boundedText({ max: PROMPT_CHARS_MAX }),
        'The text; this or `messages` must be there.',
      ),
      messages: optionalField(messages, 'A chat, which the template of the model makes a text of.'),
      add_special_tokens: optionalField(
        flag(),
        'Whether the special tokens of the model are put around it.',
      ),
      return_token_strs: optionalFlag('Whether the text of each token is told.', false),
      add_generation_prompt,
      continue_final_message,
      tools,
      chat_template_kwargs,
    },
    ruleError('a JSON object'),
  )
  .refine(({ prompt, messages: chat }) => (prompt ?? null) !== null || (chat ?? null) !== null, {
    path: ['prompt'],
    error: 'is required, or messages',
  })
  .meta({ id: 'TokenizeRequest', description: 'A text or a chat to tokenize.' })
export type TokenizeRequest = z.infer<typeof TokenizeRequest>

export const TokenizeResponse = z
  .looseObject({
    count: z.int().describe('Number of tokens.'),
    max_model_len: z
      .int()
      .nullish()
      .describe('Maximum number of tokens of prompt and answer together; null when unknown.'),
    tokens: z.array(z.int()).describe('Their ids.'),
    token_strs: z.array(z.string()).nullish().describe('Their texts, if requested.'),
  })
  .meta({ id: 'TokenizeResponse', description: 'The tokens of a text.' })

export const DetokenizeRequest = z
  .looseObject(
    {
      model,
      tokens: boundedList(boundedInteger('a token id', { min: 0, max: 2_147_483_647 }), {
        max: TOKENS_MAX,
      }).describe('Ids of tokens.'),
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'DetokenizeRequest', description: 'Ids of tokens to detokenize.' })
export type DetokenizeRequest = z.infer<typeof DetokenizeRequest>

export const DetokenizeResponse = z
  .looseObject({ prompt: z.string().describe('The text of the tokens.') })
  .meta({ id: 'DetokenizeResponse', description: 'The text of tokens.' })
