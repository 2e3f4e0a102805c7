/**
 * One chunk of a streamed chat completion, the JSON of one server-sent event. Its keys must stay those that client
 * libraries of the OpenAI API combine: index, delta, finish_reason.
 */
import { z } from 'zod'
import { optionalField } from '../bounded-fields.ts'
import { ChatLogprobs, ChatUsage, SERVICE_TIERS } from './chat-response.ts'

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
