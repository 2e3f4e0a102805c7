/**
 * Schemas of a whole chat completion and of one chunk of a streamed one. Unknown keys are kept: the response of an upstream
 * must never lose what this server does not know. The keys of a chunk must stay those that client libraries of the OpenAI
 * API combine: index, delta, finish_reason.
 */

import { z } from 'zod'
import { optionalField } from '../bounded-fields.ts'

const integer = () => z.int()
const text = () => z.string()

/** A tool call that the model made. Spec: §4.3 message tool_calls. */
export const ChatToolCall = z
  .looseObject({
    id: z.string().describe('Id that the answering tool message repeats.'),
    type: z.literal('function').describe('Always function.'),
    function: z
      .looseObject({
        name: z.string().describe('Name of the function.'),
        arguments: z.string().describe('Arguments as JSON text, as the model wrote them.'),
      })
      .describe('The called function.'),
  })
  .meta({ id: 'ChatToolCall', description: 'A tool call that the model made.' })
export type ChatToolCall = z.infer<typeof ChatToolCall>

/** A call of a custom tool, from engines that support such tools; passed on unchanged. */
const ChatCustomToolCall = z
  .looseObject({
    id: z.string().describe('Id that the answering tool message repeats.'),
    type: z.literal('custom').describe('Always custom.'),
    custom: z
      .looseObject({
        name: z.string().describe('Name of the custom tool.'),
        input: z.string().describe('The text that it is called with.'),
      })
      .describe('The called tool.'),
  })
  .meta({ id: 'ChatCustomToolCall', description: 'A call of a custom tool that the model made.' })

const UrlCitation = z.looseObject({
  end_index: optionalField(integer(), 'Where the cited text ends.'),
  start_index: optionalField(integer(), 'Where the cited text starts.'),
  title: optionalField(text(), 'Title of the page.'),
  url: optionalField(text(), 'Address of the page.'),
})

const Annotation = z.looseObject({
  type: optionalField(text(), 'Kind of the annotation: url_citation.'),
  url_citation: optionalField(UrlCitation, 'A cited page.'),
})

/**
 * Message of the model.
 *
 * Spec: §4.3 choice message. Choice: a field that the model did not produce is null or absent; annotations may be a
 * list too, as some upstreams send it. `reasoning` and `reasoning_content` carry the same text.
 */
const ChatResponseMessage = z
  .looseObject({
    role: z.string().describe('Role of the speaker: assistant, or that of the continued message.'),
    content: optionalField(text(), 'The answer.'),
    refusal: optionalField(text(), 'Why the model refused.'),
    annotations: optionalField(
      z.union([Annotation, z.array(Annotation)]),
      'Citations of the answer: one, or a list.',
    ),
    audio: optionalField(
      z.looseObject({
        id: optionalField(text(), 'Id of the audio answer.'),
        data: optionalField(text(), 'The audio, base64.'),
        expires_at: optionalField(integer(), 'When it is deleted: seconds since the epoch.'),
        transcript: optionalField(text(), 'The audio as text.'),
      }),
      'The answer as audio.',
    ),
    function_call: optionalField(
      z.looseObject({
        name: optionalField(text(), 'Name of the function.'),
        arguments: optionalField(text(), 'Arguments as JSON text.'),
      }),
      'Deprecated form of one tool call.',
    ),
    tool_calls: optionalField(
      z.array(z.union([ChatToolCall, ChatCustomToolCall])),
      'Tool calls; left out when there are none.',
    ),
    reasoning: optionalField(text(), 'The reasoning before the answer.'),
    reasoning_content: optionalField(text(), 'Older name of reasoning.'),
  })
  .meta({ id: 'ChatResponseMessage', description: 'The message of the model.' })

const TOKEN_LOGPROB_FIELDS = {
  token: z.string().describe('Text of the token, or token_id:<id> if requested.'),
  logprob: z.number().describe('Natural logarithm of its probability; at least -9999.'),
  bytes: optionalField(z.array(integer()), "The token's own bytes; null when not known."),
} as const

/** Log-probabilities of a choice, one entry per token. Spec: §4.3 choice logprobs. */
const ChatLogprobs = z
  .looseObject({
    content: optionalField(
      z.array(
        z.looseObject({
          ...TOKEN_LOGPROB_FIELDS,
          top_logprobs: z
            .array(z.looseObject(TOKEN_LOGPROB_FIELDS))
            .describe(
              'The requested number of likeliest tokens at this position, likeliest first.',
            ),
        }),
      ),
      'One entry per generated token.',
    ),
  })
  .meta({ id: 'ChatLogprobs', description: 'Log-probabilities of a choice.' })

/**
 * One choice of a completion.
 *
 * Spec: §4.3 choice. Choice: stop_reason is the stop token's id, the stop text itself, or null; the spec shows
 * integer.
 */
export const ChatChoice = z
  .looseObject({
    index: integer().describe('Index of the choice, from 0.'),
    message: ChatResponseMessage.describe('The message of the model.'),
    logprobs: optionalField(ChatLogprobs, 'Log-probabilities, where they were asked for.'),
    finish_reason: optionalField(
      text(),
      'Why it ended: stop, length, tool_calls, content_filter, abort.',
    ),
    stop_reason: optionalField(
      z.union([integer(), z.string()]),
      'What ended it: id of a stop token, a stop text, or null.',
    ),
    token_ids: optionalField(
      z.array(integer()),
      'Ids of the generated tokens, where they were asked for.',
    ),
  })
  .meta({ id: 'ChatChoice', description: 'One choice of an answer.' })
export type ChatChoice = z.infer<typeof ChatChoice>

/** Tokens that a completion used. Spec: §4.3 usage (each count defaults to 0). */
export const ChatUsage = z
  .looseObject({
    prompt_tokens: optionalField(integer(), 'Tokens of the prompt. Default 0.', 0),
    total_tokens: optionalField(integer(), 'Tokens of prompt and answer. Default 0.', 0),
    completion_tokens: optionalField(integer(), 'Tokens of all choices together. Default 0.', 0),
    prompt_tokens_details: optionalField(
      z.looseObject({
        cached_tokens: optionalField(integer(), 'Prompt tokens that came from a cache.'),
      }),
      'Where the prompt tokens came from.',
    ),
  })
  .meta({ id: 'ChatUsage', description: 'Tokens that a completion used.' })
export type ChatUsage = z.infer<typeof ChatUsage>

/** Values of `service_tier`. Spec: §4.3 response. */
const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority'] as const

/** The response of a chat completion. Spec: §4.3 response. */
export const ChatCompletionResponse = z
  .looseObject({
    id: z.string().optional().describe('chatcmpl- and the id of the request.'),
    object: z.literal('chat.completion').optional().meta({
      description: 'Always chat.completion.',
      default: 'chat.completion',
    }),
    created: integer().optional().describe('When it was created, seconds since the epoch.'),
    model: z.string().describe('The model, under the requested name.'),
    choices: z.array(ChatChoice).describe('The requested number of choices, `n`.'),
    usage: ChatUsage.describe('Tokens that it used.'),
    service_tier: optionalField(z.enum(SERVICE_TIERS), 'Tier that served it.'),
    system_fingerprint: optionalField(text(), 'Names the model file and the code that ran it.'),
    prompt_logprobs: optionalField(
      z.array(
        z
          .record(
            z.string(),
            z.looseObject({
              logprob: z.number().describe('Natural logarithm of the probability.'),
              rank: optionalField(integer(), 'Rank among all tokens, from 1.'),
              decoded_token: optionalField(text(), 'Text of the token.'),
            }),
          )
          .nullable(),
      ),
      'For each prompt token: token id to its log-probability; null for the first.',
    ),
    prompt_token_ids: optionalField(
      z.array(integer()),
      'Ids of the prompt tokens, where they were asked for.',
    ),
    kv_transfer_params: optionalField(
      z.looseObject({}),
      'Parameters for serving prefill and decoding apart.',
    ),
  })
  .meta({ id: 'ChatCompletionResponse', description: 'A completed chat.' })
export type ChatCompletionResponse = z.infer<typeof ChatCompletionResponse>

const ToolCallDelta = z.looseObject({
  index: z.int().describe('Index of the tool call that this adds to, from 0.'),
  id: optionalField(z.string(), 'Id of the call; in its first piece only.'),
  type: optionalField(z.enum(['function', 'custom']), 'Kind of the tool; in the first piece only.'),
  function: optionalField(
    z.looseObject({
      name: optionalField(z.string(), 'Name of the function; in the first piece only.'),
      arguments: optionalField(z.string(), 'Next piece of the arguments as JSON text.'),
    }),
    'What is added to the called function.',
  ),
  custom: optionalField(
    z.looseObject({
      name: optionalField(z.string(), 'Name of the custom tool; in the first piece only.'),
      input: optionalField(z.string(), 'Next piece of the text that it is called with.'),
    }),
    'What is added to the call of a custom tool.',
  ),
})

/** What a chunk adds to a message; every key may be missing. */
const ChatDelta = z.looseObject({
  role: optionalField(z.string(), 'Role of the speaker; in the first chunk of a choice.'),
  content: optionalField(z.string(), 'Next piece of the answer.'),
  refusal: optionalField(z.string(), 'Next piece of a refusal.'),
  reasoning: optionalField(z.string(), 'Next piece of the reasoning.'),
  reasoning_content: optionalField(z.string(), 'Older name of reasoning.'),
  tool_calls: optionalField(z.array(ToolCallDelta), 'Next pieces of tool calls.'),
})

/** One choice of a chunk. */
export const ChatChunkChoice = z.looseObject({
  index: z.int().describe('Index of the choice, from 0; choices interleave.'),
  delta: ChatDelta.describe('What is added to the message of the choice.'),
  logprobs: optionalField(ChatLogprobs, 'Log-probabilities of the tokens of this piece only.'),
  finish_reason: optionalField(z.string(), 'Why the choice ended; null in all but its last chunk.'),
  stop_reason: optionalField(
    z.union([z.int(), z.string()]),
    'What ended it: id of a stop token, a stop text, or null; in the last chunk of the choice.',
  ),
  token_ids: optionalField(z.array(z.int()), 'Ids of the tokens of this piece only.'),
})
export type ChatChunkChoice = z.infer<typeof ChatChunkChoice>

/**
 * One event of a stream. Order: a role chunk per choice, content chunks, a finish chunk per choice, a usage chunk
 * without choices if asked for, then the text `[DONE]`, which is no JSON.
 *
 * Spec: §4.3 ("Streaming chunk format when stream is true: not shown"), return_token_ids. Choice: the chunk of the
 * OpenAI API with the extra keys of the response: client libraries read it.
 */
export const ChatCompletionChunk = z
  .looseObject({
    id: z.string().describe('Id of the completion, the same in every chunk.'),
    object: z.literal('chat.completion.chunk').describe('Always chat.completion.chunk.'),
    created: z
      .int()
      .describe('When the completion began, seconds since the epoch; the same in every chunk.'),
    model: z.string().describe('The model, under the requested name.'),
    choices: z.array(ChatChunkChoice).describe('What is added; empty in the usage chunk.'),
    usage: optionalField(ChatUsage, 'Tokens used: in the usage chunk, or so far in every chunk.'),
    prompt_token_ids: optionalField(
      z.array(z.int()),
      'Ids of the prompt tokens, where asked for; in the first chunk only.',
    ),
    service_tier: optionalField(z.enum(SERVICE_TIERS), 'Tier that serves it.'),
    system_fingerprint: optionalField(
      z.string(),
      'Names the model file and the code that runs it.',
    ),
  })
  .meta({ id: 'ChatCompletionChunk', description: 'One event of a streamed completion.' })
export type ChatCompletionChunk = z.infer<typeof ChatCompletionChunk>
