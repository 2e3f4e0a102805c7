/** `POST /v1/completions` on the wire, an addition to the spec: the older fields of the OpenAI API; unknown ones pass. */
import { z } from 'zod'
import {
  boundedInteger,
  flag,
  optionalField,
  optionalFlag,
  ruleError,
  wholeNumber,
} from '../../bounded-fields.ts'
import { SAMPLING_FIELDS } from '../chat-sampling-fields.ts'
import { model, TEXTS_RULE, TextsOrTokens, user } from '../input-fields.ts'

const CHOICES_MAX = 128

const count = (max: number) => wholeNumber(1, max)

export const TextCompletionRequest = z
  .looseObject(
    {
      prompt: TextsOrTokens.describe(`Prompt to complete: ${TEXTS_RULE}.`),
      model,
      suffix: optionalField(z.string(), 'Refused: text cannot be inserted.'),
      echo: optionalFlag('Whether the answer begins with the prompt.', false),
      logprobs: optionalField(
        wholeNumber(0, 20),
        'Likeliest tokens that are told at each place, in the older form.',
      ),
      best_of: optionalField(count(CHOICES_MAX), 'Of how many the best `n` are answered.'),
      n: optionalField(count(CHOICES_MAX), 'Choices for each prompt. Default 1.', 1),
      max_tokens: optionalField(
        boundedInteger('a whole number, 0 or more', { min: 0 }),
        'Tokens of one choice. Default 16; 0 with `echo` judges the prompt and adds nothing.',
        16,
      ),
      temperature: SAMPLING_FIELDS.temperature,
      top_p: SAMPLING_FIELDS.top_p,
      frequency_penalty: SAMPLING_FIELDS.frequency_penalty,
      presence_penalty: SAMPLING_FIELDS.presence_penalty,
      logit_bias: SAMPLING_FIELDS.logit_bias,
      seed: SAMPLING_FIELDS.seed,
      stop: SAMPLING_FIELDS.stop,
      stream: optionalFlag('Whether the answer comes in pieces.', false),
      stream_options: optionalField(
        z.looseObject(
          { include_usage: optionalField(flag(), 'Whether a last chunk carries the usage.') },
          ruleError('an object'),
        ),
        'What a stream carries.',
      ),
      user,
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'TextCompletionRequest', description: 'A text to complete.' })
export type TextCompletionRequest = z.infer<typeof TextCompletionRequest>

export const TextCompletionResponse = z
  .looseObject({
    id: z.string().optional().describe('Id of the completion.'),
    model: z.string().optional().describe('The model.'),
    choices: z
      .array(
        z.looseObject({
          index: z.int().optional().describe('Index of the choice, from 0.'),
          text: z.string().describe('The generated text.'),
        }),
      )
      .describe('As many choices as `n` for each prompt.'),
    usage: z.looseObject({}).nullish().describe('Tokens that it used.'),
  })
  .meta({
    id: 'TextCompletionResponse',
    description: 'A completion of a text; in a stream, a chunk of it.',
  })
