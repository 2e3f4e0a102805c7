/**
 * The bodies of `POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent` and `:countTokens`, additions to
 * the spec: the fields of Google's Gemini API. Parts are tolerant: domain/chat/gemini decides which of them a chat has.
 */
import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedText,
  flag,
  optionalField,
  ruleError,
} from '../../bounded-fields.ts'
import { CONTENT_PARTS_MAX } from '../chat-message.ts'
import { MESSAGES_MAX } from '../chat-request.ts'
import { SAMPLING_FIELDS } from '../chat-sampling-fields.ts'
import { TOOLS_MAX } from '../chat-tool-fields.ts'

const NAME_CHARS_MAX = 256
const DESCRIPTION_CHARS_MAX = 65_536
const TOKENS_MAX = 2_147_483_647
const STOP_SEQUENCES_MAX = 1_024
const CHOICES_MAX = 128

const object = () => z.looseObject({}, ruleError('an object'))
const name = () => boundedText({ min: 1, max: NAME_CHARS_MAX })
const hint = (description: string) => z.unknown().optional().describe(description)

/** One part of a content; the member that it has beside `thought` determines its kind. */
const Part = z.looseObject(
  {
    text: optionalField(z.string(ruleError('a string')), 'A text.'),
    thought: optionalField(flag(), 'Whether the text is a thought of the model.'),
    thoughtSignature: optionalField(
      z.string(ruleError('a string')),
      'What the model needs again to go on, as it was in the response.',
    ),
    functionCall: optionalField(
      z.looseObject(
        {
          name: name().describe('Name of the function.'),
          args: optionalField(object(), 'Arguments.'),
        },
        ruleError('an object with a name'),
      ),
      'A call by the model.',
    ),
    functionResponse: optionalField(
      z.looseObject(
        {
          name: name().describe('Name of the function.'),
          response: optionalField(object(), 'Result.'),
        },
        ruleError('an object with a name'),
      ),
      'The result of a call.',
    ),
    inlineData: optionalField(object(), 'A file: mimeType, and data in base64.'),
    fileData: optionalField(object(), 'A file at an address: mimeType and fileUri.'),
  },
  ruleError('an object'),
)
export type Part = z.infer<typeof Part>

const Content = z.looseObject(
  {
    role: optionalField(
      z.enum(['user', 'model', 'function'], { error: 'must be user, model or function' }),
      'Who speaks. Default user.',
    ),
    parts: optionalField(boundedList(Part, { max: CONTENT_PARTS_MAX }), 'The parts.'),
  },
  ruleError('an object with parts'),
)

const FunctionDeclaration = z.looseObject(
  {
    name: name().describe('Name of the function.'),
    description: optionalField(boundedText({ max: DESCRIPTION_CHARS_MAX }), 'What it does.'),
    parameters: optionalField(object(), "Schema of its arguments in the API's own format."),
    parametersJsonSchema: optionalField(object(), 'JSON Schema of its arguments.'),
  },
  ruleError('an object with a name'),
)

const Tool = z.looseObject(
  {
    functionDeclarations: optionalField(
      boundedList(FunctionDeclaration, { max: TOOLS_MAX }),
      'Functions. Tools that the vendor runs are refused by name, or left out where the model drops what it does not support.',
    ),
  },
  ruleError('an object'),
)

const ToolConfig = z.looseObject(
  {
    functionCallingConfig: optionalField(
      z.looseObject(
        {
          mode: optionalField(boundedText({ max: 32 }), 'AUTO, ANY, NONE or VALIDATED.'),
          allowedFunctionNames: optionalField(
            boundedList(name(), { max: TOOLS_MAX }),
            'The functions that may be called with ANY or VALIDATED; others are left out of the request.',
          ),
        },
        ruleError('an object'),
      ),
      'How functions are called.',
    ),
  },
  ruleError('an object'),
)

const GENERATION_FIELDS = {
  temperature: SAMPLING_FIELDS.temperature,
  topP: SAMPLING_FIELDS.top_p,
  topK: SAMPLING_FIELDS.top_k,
  seed: SAMPLING_FIELDS.seed,
  presencePenalty: SAMPLING_FIELDS.presence_penalty,
  frequencyPenalty: SAMPLING_FIELDS.frequency_penalty,
  candidateCount: optionalField(
    boundedInteger(`a whole number from 1 to ${CHOICES_MAX}`, { min: 1, max: CHOICES_MAX }),
    'Number of candidates. Default 1.',
  ),
  maxOutputTokens: optionalField(
    boundedInteger('a whole number above 0', { min: 1, max: TOKENS_MAX }),
    'Most tokens of the response, thoughts included.',
  ),
  stopSequences: optionalField(
    boundedList(boundedText({ min: 1, max: 1_024 }), { max: STOP_SEQUENCES_MAX }),
    'Texts that end the response.',
  ),
  responseMimeType: optionalField(boundedText({ max: 64 }), 'text/plain or application/json.'),
  responseSchema: optionalField(object(), "Schema of the response in the API's own format."),
  responseJsonSchema: optionalField(object(), 'JSON Schema of the response.'),
  responseFormat: hint('Not supported: responseJsonSchema has the schema.'),
  thinkingConfig: optionalField(
    z.looseObject(
      {
        includeThoughts: optionalField(flag(), 'Whether the response has the thoughts.'),
        thinkingLevel: optionalField(boundedText({ max: 32 }), 'MINIMAL, LOW, MEDIUM or HIGH.'),
        thinkingBudget: optionalField(
          boundedInteger('a whole number from -1', { min: -1, max: TOKENS_MAX }),
          'Most tokens of thoughts, which become an effort; 0: none; -1: the model decides.',
        ),
      },
      ruleError('an object'),
    ),
    'Thoughts before the response.',
  ),
  responseModalities: optionalField(
    boundedList(boundedText({ max: 32 }), { max: 8 }),
    'TEXT only.',
  ),
  responseLogprobs: hint('Not supported.'),
  logprobs: hint('Not supported.'),
  speechConfig: hint('Not supported.'),
  imageConfig: hint('Not supported.'),
  mediaResolution: hint('A hint.'),
  enableAffectiveDialog: hint('A hint.'),
} as const

const GenerationConfig = z.looseObject(GENERATION_FIELDS, ruleError('an object'))
export type GenerationConfig = z.infer<z.ZodObject<typeof GENERATION_FIELDS, z.core.$strip>>

const FIELDS = {
  contents: boundedList(Content, { min: 1, max: MESSAGES_MAX }).describe(
    `The conversation so far, 1 to ${MESSAGES_MAX} contents.`,
  ),
  systemInstruction: optionalField(Content, 'Instructions: texts only.'),
  tools: optionalField(boundedList(Tool, { max: TOOLS_MAX }), 'Functions that the model may call.'),
  toolConfig: optionalField(ToolConfig, 'How functions are called.'),
  generationConfig: optionalField(GenerationConfig, 'How the response is made.'),
  safetySettings: hint('A hint: a model has the filters of its engine.'),
  labels: hint('A hint.'),
  serviceTier: hint('A hint.'),
  cachedContent: hint('Not supported: send the whole conversation.'),
  store: hint('A hint: requests are stored by the header of the project.'),
  model: optionalField(boundedText({ max: 512 }), 'Ignored: the path has the model.'),
} as const

/** Body of a generation. The document has the names in camelCase; snake_case is accepted, too. */
export const GenerateContentRequest = z.looseObject(FIELDS, ruleError('a JSON object')).meta({
  id: 'GenerateContentRequest',
  description: 'A response to generate, in the format of the Gemini API.',
})
export type GenerateContentRequest = z.infer<z.ZodObject<typeof FIELDS, z.core.$strip>>

export const GENERATION_CONFIG_FIELDS: ReadonlySet<string> = new Set(Object.keys(GENERATION_FIELDS))
