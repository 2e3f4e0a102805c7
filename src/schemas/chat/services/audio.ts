/**
 * `POST /v1/audio/*` on the wire, additions to the spec: the fields of the OpenAI API; unknown ones pass. In a form
 * every field is a string.
 */
import { z } from 'zod'
import { boundedNumber, boundedText, optionalField, ruleError } from '../../bounded-fields.ts'
import { model, user } from '../input-fields.ts'

const INPUT_CHARS_MAX = 1_048_576
const WORD_CHARS_MAX = 64

const word = () => boundedText({ min: 1, max: WORD_CHARS_MAX })
const text = () => boundedText({ max: INPUT_CHARS_MAX })

/** A field of a form that may be repeated; its name ends with brackets. */
const words = () => z.array(word(), ruleError('a list of words')).max(32)

/** A flag in a form. */
const formFlag = () => z.enum(['true', 'false'], ruleError('true or false'))

export const formFile = (description: string) =>
  z.string().meta({ format: 'binary' }).describe(description)

export const SpeechRequest = z
  .looseObject(
    {
      input: boundedText({ min: 1, max: INPUT_CHARS_MAX }).describe('Text to speak.'),
      model,
      voice: z
        .union([word(), z.looseObject({})], ruleError('a name or an object'))
        .nullish()
        .describe('Voice; the engine defines which ones exist.'),
      instructions: optionalField(text(), 'How it is to be said.'),
      response_format: optionalField(word(), 'As `mp3`; the engine knows which ones there are.'),
      speed: optionalField(
        boundedNumber('a number from 0 to 16', { min: 0, max: 16 }),
        'How fast; 1 is as usual.',
      ),
      stream_format: optionalField(word(), '`audio` or `sse`, where the engine has both.'),
      user,
    },
    ruleError('a JSON object'),
  )
  .meta({ id: 'SpeechRequest', description: 'A text to speak.' })
export type SpeechRequest = z.infer<typeof SpeechRequest>

const SPOKEN_FIELDS = {
  model,
  prompt: optionalField(text(), 'What was said before, or how words are spelled.'),
  response_format: optionalField(word(), 'As `json`, `text`, `srt`, `vtt`, `verbose_json`.'),
  temperature: optionalField(word(), 'A number, as text.'),
  user,
}

/** The fields other than the file. */
export const TranscriptionForm = z
  .looseObject({
    ...SPOKEN_FIELDS,
    language: optionalField(word(), 'Of what is said, as `en`.'),
    stream: optionalField(formFlag(), 'Whether the answer comes as events of the engine.'),
    'timestamp_granularities[]': words().optional().describe('`word`, `segment`.'),
    'include[]': words().optional().describe('Further data to include, such as `logprobs`.'),
    chunking_strategy: optionalField(text(), '`auto`, or an object as JSON text.'),
  })
  .meta({ id: 'TranscriptionForm', description: 'Fields of a transcription beside its file.' })
export type TranscriptionForm = z.infer<typeof TranscriptionForm>

export const TranslationForm = z
  .looseObject(SPOKEN_FIELDS)
  .meta({ id: 'TranslationForm', description: 'Fields of a translation beside its file.' })
export type TranslationForm = z.infer<typeof TranslationForm>

export const SpokenText = z
  .looseObject({ text: z.string().describe('The text.') })
  .meta({ id: 'SpokenText', description: 'The transcript of a file.' })
