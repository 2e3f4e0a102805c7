/** `POST /v1/embeddings` on the wire, an addition to the spec: the fields of the OpenAI API; unknown ones pass. */
import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedText,
  optionalField,
  ruleError,
} from '../../bounded-fields.ts'

/** Texts of one request. */
const INPUTS_MAX = 2_048
/** Tokens of one text. */
const TOKENS_MAX = 1_048_576
const MODEL_CHARS_MAX = 512
const USER_CHARS_MAX = 1_024
const DIMENSIONS_MAX = 65_536

const Token = boundedInteger('a token id', { min: 0, max: 2_147_483_647 })
const INPUT_RULE = `a string, a list of token ids, or a list of 1 to ${INPUTS_MAX} of either`

export const EmbeddingRequest = z
  .looseObject(
    {
      input: z
        .union(
          [
            z.string(),
            boundedList(z.string(), { min: 1, max: INPUTS_MAX }),
            boundedList(Token, { min: 1, max: TOKENS_MAX }),
            boundedList(boundedList(Token, { min: 1, max: TOKENS_MAX }), {
              min: 1,
              max: INPUTS_MAX,
            }),
          ],
          ruleError(INPUT_RULE),
        )
        .describe(`Input to embed: ${INPUT_RULE}.`),
      model: optionalField(
        boundedText({ max: MODEL_CHARS_MAX }),
        'Id or alias of the model; the default model of the server when absent.',
      ),
      encoding_format: optionalField(
        z.enum(['float', 'base64'], { error: 'must be float or base64' }),
        'How vectors are written. Default float.',
        'float',
      ),
      dimensions: optionalField(
        boundedInteger('a whole number above 0', { min: 1, max: DIMENSIONS_MAX }),
        'Length of the vectors, where the model has a choice.',
      ),
      user: optionalField(boundedText({ max: USER_CHARS_MAX }), 'Who the request is made for.'),
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'EmbeddingRequest', description: 'Texts to embed.' })
export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>

export const EmbeddingResponse = z
  .looseObject({
    object: z.literal('list').optional().describe('Always list.'),
    model: z.string().optional().describe('The model.'),
    data: z
      .array(
        z.looseObject({
          index: z.int().optional().describe('Index of the text, from 0.'),
          embedding: z
            .union([z.array(z.number()), z.string()])
            .describe('The vector: numbers, or base64 of little-endian 32-bit floats.'),
        }),
      )
      .describe('A vector for each text.'),
    usage: z.looseObject({}).optional().describe('Tokens that it used.'),
  })
  .meta({ id: 'EmbeddingResponse', description: 'Embeddings of texts.' })
