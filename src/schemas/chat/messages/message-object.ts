/** Messages as Anthropic's Messages API answers them, for the OpenAPI document. */
import { z } from 'zod'

const Usage = z
  .looseObject({
    input_tokens: z.int().describe('Input that was neither read from a cache nor written to one.'),
    output_tokens: z.int().describe('The whole output, thinking included.'),
    cache_read_input_tokens: z.int().nullish().describe('Input read from a cache.'),
    cache_creation_input_tokens: z.int().nullish().describe('Input written to a cache.'),
  })
  .describe('Tokens of the message.')

export const MessageObject = z
  .looseObject({
    id: z.string().describe('Id of the message.'),
    type: z.literal('message').describe('Always message.'),
    role: z.literal('assistant').describe('Always assistant.'),
    model: z.string().describe('The model.'),
    content: z
      .array(z.looseObject({ type: z.string().describe('text, tool_use or thinking.') }))
      .describe('Blocks of content.'),
    stop_reason: z
      .string()
      .nullable()
      .describe('end_turn, max_tokens, stop_sequence, tool_use, refusal; of a vendor also others.'),
    stop_sequence: z.string().nullable().describe('The text that ended the message.'),
    usage: Usage,
  })
  .meta({ id: 'MessageObject', description: 'A message of the assistant.' })

export const MessageEvent = z
  .looseObject({
    type: z
      .string()
      .describe(
        'message_start, content_block_start, content_block_delta, content_block_stop, message_delta, message_stop, ping or error.',
      ),
  })
  .meta({ id: 'MessageEvent', description: 'One event of a streamed message.' })

export const MessageTokenCount = z
  .looseObject({ input_tokens: z.int().describe('Tokens of the prompt.') })
  .meta({ id: 'MessageTokenCount', description: 'A count of input tokens.' })

export const MessagesError = z
  .object({
    type: z.literal('error').describe('Always error.'),
    error: z
      .object({
        type: z
          .string()
          .describe(
            'invalid_request_error, authentication_error, permission_error, not_found_error, request_too_large, rate_limit_error, api_error, timeout_error or overloaded_error.',
          ),
        message: z.string().describe('Why the request failed.'),
      })
      .describe('The error.'),
    request_id: z.string().describe('Id of the request, also in the header `request-id`.'),
  })
  .meta({ id: 'MessagesError', description: 'An error in the format of the Anthropic API.' })
