/** `POST /v1/images/generations` on the wire, an addition to the spec: the fields of the OpenAI API; unknown ones pass. */
import { z } from 'zod'
import { boundedText, flag, optionalField, ruleError, wholeNumber } from '../../bounded-fields.ts'
import { model, user } from '../input-fields.ts'

const PROMPT_CHARS_MAX = 1_048_576
const WORD_CHARS_MAX = 64
const IMAGES_MAX = 16

const word = () => boundedText({ min: 1, max: WORD_CHARS_MAX })

export const ImageRequest = z
  .looseObject(
    {
      prompt: boundedText({ min: 1, max: PROMPT_CHARS_MAX }).describe('Description of the image.'),
      model,
      n: optionalField(wholeNumber(1, IMAGES_MAX), 'How many images. Default 1.', 1),
      size: optionalField(word(), 'As `1024x1024`; the engine knows which ones there are.'),
      quality: optionalField(word(), 'As `high`; the engine knows which ones there are.'),
      response_format: optionalField(word(), '`url` or `b64_json`, where the engine has both.'),
      stream: optionalField(flag(), 'Refused when true: images are not streamed.', false),
      user,
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'ImageRequest', description: 'An image to generate.' })
export type ImageRequest = z.infer<typeof ImageRequest>

export const ImageResponse = z
  .looseObject({
    created: z.int().optional().describe('Seconds since the epoch.'),
    data: z.array(z.looseObject({})).describe('The images, each as `url` or `b64_json`.'),
  })
  .meta({ id: 'ImageResponse', description: 'Images.' })

const EDITED_FIELDS = {
  model,
  n: optionalField(word(), 'How many images, a number as text.'),
  size: optionalField(word(), 'As `1024x1024`; the engine knows which ones there are.'),
  response_format: optionalField(word(), '`url` or `b64_json`, where the engine has both.'),
  user,
}

/** The fields other than the files. */
export const ImageEditForm = z
  .looseObject({
    ...EDITED_FIELDS,
    prompt: boundedText({ min: 1, max: PROMPT_CHARS_MAX }).describe('Description of the edit.'),
    quality: optionalField(word(), 'As `high`; the engine knows which ones there are.'),
    background: optionalField(word(), 'As `transparent`.'),
    input_fidelity: optionalField(word(), 'As `high`.'),
    output_format: optionalField(word(), 'As `png`.'),
    stream: z
      .enum(['true', 'false'], ruleError('true or false'))
      .nullish()
      .describe('Refused when true: images are not streamed.'),
  })
  .meta({ id: 'ImageEditForm', description: 'Fields of an edited image beside its files.' })
export type ImageEditForm = z.infer<typeof ImageEditForm>

/** The fields other than the file. */
export const ImageVariationForm = z
  .looseObject(EDITED_FIELDS)
  .meta({ id: 'ImageVariationForm', description: 'Fields of a variation beside its file.' })
export type ImageVariationForm = z.infer<typeof ImageVariationForm>
