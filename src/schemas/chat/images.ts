/** `POST /v1/images/generations` on the wire, an addition to the spec: the fields of the OpenAI API; unknown ones pass. */
import { z } from 'zod'
import { boundedInteger, boundedText, flag, optionalField, ruleError } from '../bounded-fields.ts'

const PROMPT_CHARS_MAX = 1_048_576
const MODEL_CHARS_MAX = 512
const USER_CHARS_MAX = 1_024
const WORD_CHARS_MAX = 64
const IMAGES_MAX = 16

const word = () => boundedText({ min: 1, max: WORD_CHARS_MAX })

export const ImageRequest = z
  .looseObject(
    {
      prompt: boundedText({ min: 1, max: PROMPT_CHARS_MAX }).describe('What is to be seen.'),
      model: optionalField(
        boundedText({ max: MODEL_CHARS_MAX }),
        'Id or alias of the model; the default model of the server when absent.',
      ),
      n: optionalField(
        boundedInteger(`a whole number from 1 to ${IMAGES_MAX}`, { min: 1, max: IMAGES_MAX }),
        'How many images. Default 1.',
        1,
      ),
      size: optionalField(word(), 'As `1024x1024`; the engine knows which ones there are.'),
      quality: optionalField(word(), 'As `high`; the engine knows which ones there are.'),
      response_format: optionalField(word(), '`url` or `b64_json`, where the engine has both.'),
      stream: optionalField(flag(), 'Refused when true: images come whole.', false),
      user: optionalField(boundedText({ max: USER_CHARS_MAX }), 'Who the request is made for.'),
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'ImageRequest', description: 'An image to be made.' })
export type ImageRequest = z.infer<typeof ImageRequest>

export const ImageResponse = z
  .looseObject({
    created: z.int().optional().describe('Seconds since the epoch.'),
    data: z.array(z.looseObject({})).describe('An image each, as `url` or `b64_json`.'),
  })
  .meta({ id: 'ImageResponse', description: 'Images.' })
