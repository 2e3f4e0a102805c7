/** The entries of the models file: their fields, limits and defaults. */
import { z } from 'zod'
import { ENGINES } from '../openai/profiles.ts'
import { baseUrl, COMMON_FIELDS, UPSTREAM_FIELDS } from './entry-fields.ts'
import { AiSdkEntry } from './package-entry.ts'

const TinyEntry = z.strictObject({
  ...COMMON_FIELDS,
  tools: z
    .boolean('must be true or false')
    .default(true)
    .describe('Whether it supports tool calls. Default true.'),
  backend: z.literal('tiny').describe('The model embedded in this server.'),
})

const OpenAiEntry = z.strictObject({
  ...COMMON_FIELDS,
  backend: z.literal('openai').describe('An OpenAI-compatible server.'),
  engine: z
    .enum(ENGINES, `must be one of ${ENGINES.join(', ')}`)
    .default('generic')
    .describe('Kind of the server, which decides how fields are sent to it. Default generic.'),
  base_url: baseUrl()
    .optional()
    .describe('Address without /chat/completions, such as http://127.0.0.1:8000/v1.'),
  ...UPSTREAM_FIELDS,
})

/** Headers that this server sets itself, or that would hold a key. */
const OWN_HEADERS =
  /^(?:authorization|x-api-key|cookie|host|connection|content-.*|transfer-encoding|accept.*|expect|te|trailer|upgrade|keep-alive|proxy-.*|x-request-id)$/

const AnthropicEntry = z.strictObject({
  ...COMMON_FIELDS,
  tools: z
    .boolean('must be true or false')
    .default(true)
    .describe('Whether it supports tool calls. Default true.'),
  backend: z.literal('anthropic').describe("A server with Anthropic's Messages API."),
  base_url: baseUrl()
    .optional()
    .describe('Address, with or without /v1. Default https://api.anthropic.com.'),
  headers: z
    .record(
      z
        .string()
        .regex(/^[a-z0-9-]{1,64}$/, 'must have names in lower case')
        .refine((name) => !OWN_HEADERS.test(name), 'must not set a header of the server or a key'),
      z
        .string('must be a string')
        .regex(/^[ -~]{1,1024}$/, 'must be 1 to 1024 printable characters'),
      'must be an object of strings',
    )
    .optional()
    .describe('Headers of each request, such as anthropic-beta; none may hold a key.'),
  max_tokens: z
    .int('must be a whole number')
    .min(1, 'must be 1 or more')
    .default(8_192)
    .describe('Limit of tokens for chats that name none. Default 8192.'),
  thinking: z
    .enum(['adaptive', 'budget'], 'must be adaptive or budget')
    .default('adaptive')
    .describe(
      'How reasoning_effort of a chat is sent: as the effort of adaptive thinking, or as a budget within the limit of tokens, for older models. Default adaptive.',
    ),
  ...UPSTREAM_FIELDS,
})

/** One entry of the file, defaults filled in. */
export const ModelEntry = z.discriminatedUnion(
  'backend',
  [TinyEntry, OpenAiEntry, AnthropicEntry, AiSdkEntry],
  {
    error: 'must be tiny, openai, anthropic or ai-sdk',
  },
)
export type ModelEntry = z.output<typeof ModelEntry>
