/** `POST /v1/embeddings` on the wire, an addition to the spec: the fields of the OpenAI API; unknown ones pass. */
import { z } from 'zod'
import { boundedInteger, optionalField, ruleError } from '../../bounded-fields.ts'
import { model, TEXTS_RULE, TextsOrTokens, user } from '../input-fields.ts'

const DIMENSIONS_MAX = 65_536

export const EmbeddingRequest = z
  .looseObject(
    {
      input: TextsOrTokens.describe(`Input to embed: ${TEXTS_RULE}.`),
      model,
      encoding_format: optionalField(
        z.enum(['float', 'base64'], { error: 'must be float or base64' }),
        'How vectors are written. Default float.',
        'float',
      ),
      dimensions: optionalField(
        boundedInteger('a whole number above 0', { min: 1, max: DIMENSIONS_MAX }),
        'Length of the vectors, where the model has a choice.',
      ),
      user,
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
