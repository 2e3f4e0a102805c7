/**
 * The body of `POST /v1/responses`, an addition to the spec: each field of the OpenAI API. How each field is
 * translated to a chat is decided in domain/chat/responses/responses-request.ts, which covers all of them.
 */
import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedMap,
  boundedObject,
  boundedText,
  flag,
  optionalField,
  optionalFlag,
  ruleError,
  wholeNumber,
} from '../../bounded-fields.ts'
import { EXTRA_KEYS_MAX } from '../chat-prompt-fields.ts'
import { SAMPLING_FIELDS } from '../chat-sampling-fields.ts'
import { REASONING_EFFORTS } from '../chat-tool-fields.ts'
import { model, user, userText } from '../input-fields.ts'
import { INPUT_ITEMS_MAX, InputItem, RESPONSE_TOOL_FIELDS } from './responses-input.ts'

const ID_CHARS_MAX = 128
const METADATA_KEYS_MAX = 16
const METADATA_CHARS_MAX = 512
const SCHEMA_NAME_CHARS_MAX = 256
const DESCRIPTION_CHARS_MAX = 65_536
const TOKENS_MAX = 2_147_483_647

/** Values of `include`. */
const RESPONSE_INCLUDES = [
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
] as const

const TextFormat = z.looseObject(
  {
    type: z
      .enum(['text', 'json_schema', 'json_object'], {
        error: 'must be text, json_schema or json_object',
      })
      .describe('text, json_schema or json_object.'),
    name: optionalField(boundedText({ max: SCHEMA_NAME_CHARS_MAX }), 'Name of the schema.'),
    description: optionalField(boundedText({ max: DESCRIPTION_CHARS_MAX }), 'What it is for.'),
    schema: optionalField(z.looseObject({}, ruleError('an object')), 'The JSON Schema.'),
    strict: optionalField(flag(), 'Whether the answer must keep the schema to the letter.'),
  },
  ruleError('an object with a type'),
)

const TextConfig = z.looseObject(
  {
    format: optionalField(TextFormat, 'Format of the answer. Default text.'),
    verbosity: optionalField(boundedText({ max: 16 }), 'low, medium or high; told to the engine.'),
  },
  ruleError('an object'),
)

const Reasoning = z.looseObject(
  {
    effort: optionalField(z.enum(REASONING_EFFORTS), 'How much the model reasons.'),
    summary: optionalField(
      boundedText({ max: 16 }),
      'Reasoning is answered as it is, in `content`; no summary of it is made.',
    ),
  },
  ruleError('an object'),
)

const FIELDS = {
  input: z
    .union(
      [z.string(), boundedList(InputItem, { max: INPUT_ITEMS_MAX })],
      ruleError(`a string or a list of at most ${INPUT_ITEMS_MAX} items`),
    )
    .nullish()
    .describe('The input: a text of the user, or a list of items.'),
  model,
  instructions: optionalField(
    z.string(ruleError('a string')),
    'A system message before all else; not carried over from the previous response.',
  ),
  previous_response_id: optionalField(
    boundedText({ min: 1, max: ID_CHARS_MAX }),
    'Stored response that this one continues.',
  ),
  store: optionalFlag('Whether the response is kept to be read again.', true),
  stream: optionalFlag('Whether the answer comes as typed events.', false),
  stream_options: optionalField(
    z.looseObject(
      { include_obfuscation: optionalField(flag(), 'No padding is ever added.') },
      ruleError('an object'),
    ),
    'Options of a stream.',
  ),
  include: optionalField(
    boundedList(z.enum(RESPONSE_INCLUDES, { error: 'cannot be included' }), {
      max: RESPONSE_INCLUDES.length,
    }),
    'What the answer includes: message.output_text.logprobs. The other names ask for parts of items that the server never makes, or that are there anyway.',
  ),
  max_output_tokens: optionalField(
    boundedInteger('a whole number above 0', { min: 1, max: TOKENS_MAX }),
    'Most tokens of the answer, reasoning included.',
  ),
  temperature: SAMPLING_FIELDS.temperature,
  top_p: SAMPLING_FIELDS.top_p,
  top_logprobs: optionalField(
    wholeNumber(0, 20),
    'Likeliest tokens that are told at each place; more than 0 turns log-probabilities on.',
  ),
  text: optionalField(TextConfig, 'Form of the answer.'),
  reasoning: optionalField(Reasoning, 'How the model reasons.'),
  ...RESPONSE_TOOL_FIELDS,
  metadata: optionalField(
    boundedMap(boundedText({ max: METADATA_CHARS_MAX }), { max: METADATA_KEYS_MAX }),
    'Texts by name that are kept and answered with the response.',
  ),
  user,
  safety_identifier: optionalField(userText(), 'Who the request is made for; told to the engine.'),
  service_tier: optionalField(boundedText({ max: 32 }), 'Tier that serves it; told to the engine.'),
  prompt_cache_key: optionalField(
    userText(),
    'Names prompts that begin alike; told to the engine.',
  ),
  prompt_cache_retention: optionalField(
    boundedText({ max: 32 }),
    'How long the engine keeps the prompt; told to the engine.',
  ),
  prompt_cache_options: optionalField(
    boundedObject(EXTRA_KEYS_MAX),
    'Options of the cache; told to the engine.',
  ),
  client_metadata: z
    .unknown()
    .optional()
    .describe('Only for the service of the vendor: sent only to an engine that makes responses.'),
  truncation: optionalField(
    boundedText({ max: 16 }),
    'disabled; auto, which drops items, is refused. Default disabled.',
    'disabled',
  ),
  background: optionalField(flag(), 'True is refused: an answer is made while its client waits.'),
  conversation: z.unknown().optional().describe('Refused: use previous_response_id.'),
  prompt: z.unknown().optional().describe('Refused: there are no stored prompts.'),
  context_management: z.unknown().optional().describe('Refused: contexts are not compacted.'),
  moderation: z.unknown().optional().describe('Refused: nothing is moderated.'),
  access_programs: z.unknown().optional().describe('Refused: there are none.'),
  image: z.unknown().optional().describe('Refused: images are passed on unchanged.'),
} as const

/** Body of a response to be made; unknown fields pass to the engine, as in a chat. */
export const ResponseCreateRequest = z.looseObject(FIELDS, ruleError('a JSON object')).meta({
  id: 'ResponseCreateRequest',
  description:
    'A response to create. Engines with a Responses API of their own get the fields that are refused here, except background and conversation.',
})

/** The named fields only, so that `keyof` stays the list of them. */
export type ResponseCreateRequest = z.infer<z.ZodObject<typeof FIELDS, z.core.$strip>>
