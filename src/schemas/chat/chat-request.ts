/**
 * The body of a chat completion request: every field of the spec, one by one. Rules between fields
 * are in domain/chat/chat-rules.ts. Nothing here may fill in a default or drop a key that it does not know.
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
} from '../bounded-fields.ts'
import { ChatMessage, isPlainMessage } from './chat-message.ts'
import { EXTRA_KEYS_MAX, PROMPT_FIELDS } from './chat-prompt-fields.ts'
import { SAMPLING_FIELDS } from './chat-sampling-fields.ts'
import { TOOL_FIELDS } from './chat-tool-fields.ts'
import { model, user } from './input-fields.ts'

/** Messages of one request. */
export const MESSAGES_MAX = 10_000
const LOGITS_PROCESSORS_MAX = 64
const ENGINE_ARGUMENT_CHARS_MAX = 65_536
const ENGINE_ARGUMENTS_MAX = 10_000

const StreamOptions = z.looseObject(
  {
    include_usage: optionalFlag(
      'Whether a last chunk carries the usage of the whole answer.',
      false,
    ),
    continuous_usage_stats: optionalFlag(
      'Whether every chunk carries the usage so far; only with include_usage.',
      false,
    ),
  },
  ruleError('an object'),
)

const LogitsProcessor = z.union(
  [
    boundedText({ min: 1, max: 1_024 }),
    z.strictObject(
      {
        qualname: boundedText({ min: 1, max: 1_024 }).describe('Qualified name of the class.'),
        args: optionalField(boundedList(z.unknown(), { max: 1_024 }), 'Arguments by position.'),
        kwargs: optionalField(boundedObject(EXTRA_KEYS_MAX), 'Arguments by name.'),
      },
      { error: 'must have a qualname, and only args and kwargs beside it' },
    ),
  ],
  { error: 'must be a qualified name or an object of qualname, args and kwargs' },
)

const engineScalar = () =>
  z.union([boundedText({ max: ENGINE_ARGUMENT_CHARS_MAX }), z.number()], {
    error: 'must be a string or a number',
  })
const EngineArgument = z.union(
  [engineScalar(), boundedList(engineScalar(), { max: ENGINE_ARGUMENTS_MAX })],
  { error: 'must be a string, a number, or a list of these' },
)

const EXCHANGE_FIELDS = {
  messages: boundedList(ChatMessage, {
    min: 1,
    max: MESSAGES_MAX,
    passes: isPlainMessage,
  }).describe(
    `The conversation so far, 1 to ${MESSAGES_MAX} messages. Models follow a developer message whatever users say; for newer reasoning models it replaces the system message.`,
  ),
  model,
  stream: optionalFlag('Whether the answer comes in pieces, as server-sent events.', false),
  stream_options: optionalField(StreamOptions, 'What a stream carries; only with stream.'),
  user,
  request_id: optionalField(
    z.string(ruleError('a string')).regex(/^[A-Za-z0-9._:-]{1,128}$/, {
      error: 'must be 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, colon and hyphen',
    }),
    'Id of the request, answered in its id; a random UUID when absent.',
  ),
  priority: optionalField(
    boundedInteger('a whole number', {
      min: Number.MIN_SAFE_INTEGER,
      max: Number.MAX_SAFE_INTEGER,
    }),
    'Lower is handled earlier. Anything but 0 is an error unless the model is served with priority scheduling. Default 0.',
    0,
  ),
  return_tokens_as_token_ids: optionalField(
    flag(),
    'Whether logprobs write tokens as token_id:<id>.',
  ),
  return_token_ids: optionalField(
    flag(),
    'Whether the answer carries token ids; in a stream the prompt ids come with the first chunk only.',
  ),
} as const

const ENGINE_FIELDS = {
  logits_processors: optionalField(
    boundedList(LogitsProcessor, { max: LOGITS_PROCESSORS_MAX }),
    'Code that changes logits: qualified names or {qualname, args, kwargs}; for models that allow it.',
  ),
  cache_salt: optionalField(
    boundedText({ min: 1, max: 128 }).refine((salt) => !/[@/\\\0]/.test(salt), {
      error: 'must not hold @, a slash, a backslash or NUL',
    }),
    'Keeps the prefix cache apart from that of other salts; 1 to 128 characters.',
  ),
  kv_transfer_params: optionalField(
    boundedObject(EXTRA_KEYS_MAX),
    'Parameters for serving prefill and decoding apart.',
  ),
  engine_xargs: optionalField(
    boundedMap(EngineArgument, { max: EXTRA_KEYS_MAX }),
    'Extra arguments of engine extensions: strings, numbers or lists of these.',
  ),
} as const

const FIELDS = {
  ...EXCHANGE_FIELDS,
  ...SAMPLING_FIELDS,
  ...TOOL_FIELDS,
  ...PROMPT_FIELDS,
  ...ENGINE_FIELDS,
} as const

/**
 * Body of a chat completion request; only `messages` is required and unknown keys are retained.
 *
 * Spec: §4.3. Choice: types are strict ("0.7" is not a number), null means absent, and unknown keys pass since
 * engines and client libraries keep adding some.
 */
export const ChatCompletionRequest = z
  .looseObject(FIELDS, ruleError('a JSON object'))
  .meta({ id: 'ChatCompletionRequest', description: 'A chat to complete.' })

/**
 * The spec's fields only, so that `keyof` stays the list of them. A parsed body has further keys
 * where the client sent some. Every optional field may be null, which means absent.
 */
export type ChatCompletionRequest = z.infer<z.ZodObject<typeof FIELDS, z.core.$strip>>

/** The documented defaults, of the fields that have one. Spec: §4.3, §8. */
export const CHAT_DEFAULTS = {
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
  n: 1,
  presence_penalty: 0,
  stop: [],
  stream: false,
  tool_choice: 'none',
  include_reasoning: true,
  parallel_tool_calls: true,
  use_beam_search: false,
  length_penalty: 1,
  include_stop_str_in_output: false,
  ignore_eos: false,
  min_tokens: 0,
  skip_special_tokens: true,
  spaces_between_special_tokens: true,
  echo: false,
  add_generation_prompt: true,
  continue_final_message: false,
  add_special_tokens: false,
  priority: 0,
} as const satisfies DefaultsOf<ChatCompletionRequest>

type DefaultsOf<T> = { readonly [K in keyof T]?: Readonly<NonNullable<T[K]>> }
