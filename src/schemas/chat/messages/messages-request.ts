/**
 * The bodies of `POST /v1/messages` and `/v1/messages/count_tokens`, additions to the spec: the fields of Anthropic's
 * Messages API. Content is tolerant: domain/chat/messages decides which blocks a chat has.
 */
import { z } from 'zod'
import {
  boundedInteger,
  boundedList,
  boundedText,
  flag,
  optionalField,
  optionalFlag,
  ruleError,
} from '../../bounded-fields.ts'
import { CONTENT_PARTS_MAX } from '../chat-message.ts'
import { MESSAGES_MAX } from '../chat-request.ts'
import { SAMPLING_FIELDS } from '../chat-sampling-fields.ts'
import { TOOLS_MAX } from '../chat-tool-fields.ts'
import { model, userText } from '../input-fields.ts'

const TYPE_CHARS_MAX = 64
const NAME_CHARS_MAX = 256
const DESCRIPTION_CHARS_MAX = 65_536
const TOKENS_MAX = 2_147_483_647
const STOP_SEQUENCES_MAX = 1_024
const STOP_CHARS_MAX = 1_024

const type = (description: string) =>
  boundedText({ min: 1, max: TYPE_CHARS_MAX }).describe(description)
const object = () => z.looseObject({}, ruleError('an object'))

/** One block of content; its `type` determines which fields apply. */
const ContentBlock = z.looseObject(
  {
    type: type(
      'Kind of the block: text, image, document, tool_use, tool_result, thinking, redacted_thinking, ...',
    ),
    text: optionalField(z.string(ruleError('a string')), 'The text of a text block.'),
  },
  ruleError('an object with a type'),
)
export type ContentBlock = z.infer<typeof ContentBlock>

const Content = z.union(
  [z.string(), boundedList(ContentBlock, { max: CONTENT_PARTS_MAX })],
  ruleError(`a string or a list of at most ${CONTENT_PARTS_MAX} blocks`),
)
export type MessageContent = z.infer<typeof Content>

const InputMessage = z.looseObject(
  {
    role: z
      .enum(['user', 'assistant', 'system'], { error: 'must be user, assistant or system' })
      .describe('Who speaks; instructions may also stand between messages.'),
    content: Content.describe('Content: a string, or a list of blocks.'),
  },
  ruleError('an object with a role'),
)
export type InputMessage = z.infer<typeof InputMessage>

const MessageTool = z.looseObject(
  {
    type: optionalField(
      boundedText({ min: 1, max: TYPE_CHARS_MAX }),
      'custom, also when absent; other tools are those that the vendor defines or runs.',
    ),
    name: optionalField(boundedText({ min: 1, max: NAME_CHARS_MAX }), 'Name of the tool.'),
    description: optionalField(
      boundedText({ max: DESCRIPTION_CHARS_MAX }),
      'What the tool does and when to call it.',
    ),
    input_schema: optionalField(object(), 'JSON Schema of the input.'),
    defer_loading: optionalField(
      flag(),
      'Whether the tool is loaded on demand; other models than those of the vendor get it at once.',
    ),
  },
  ruleError('an object with a name'),
)
export type MessageTool = z.infer<typeof MessageTool>

const ToolChoice = z.looseObject(
  {
    type: z
      .enum(['auto', 'any', 'tool', 'none'], { error: 'must be auto, any, tool or none' })
      .describe('auto, any, tool or none.'),
    name: optionalField(boundedText({ max: NAME_CHARS_MAX }), 'Name of the tool to call.'),
    disable_parallel_tool_use: optionalFlag('Whether at most one tool is called.', false),
  },
  ruleError('an object with a type'),
)

const Thinking = z.looseObject(
  {
    type: type('enabled, adaptive or disabled.'),
    budget_tokens: optionalField(
      boundedInteger('a whole number above 0', { min: 1, max: TOKENS_MAX }),
      'Most tokens of the thinking; other models get an effort instead.',
    ),
    display: optionalField(
      boundedText({ max: TYPE_CHARS_MAX }),
      'Whether the thinking is shown: summarized or omitted.',
    ),
  },
  ruleError('an object with a type'),
)

const OutputFormat = z.looseObject(
  {
    type: z.literal('json_schema', { error: 'must be json_schema' }).describe('json_schema.'),
    schema: z.looseObject({}, ruleError('an object')).describe('The JSON Schema.'),
  },
  ruleError('an object with a type and a schema'),
)

const OutputConfig = z.looseObject(
  {
    effort: optionalField(boundedText({ max: 16 }), 'How much the model reasons.'),
    format: optionalField(OutputFormat, 'Format of the answer.'),
  },
  ruleError('an object'),
)

const PROMPT_FIELDS = {
  model,
  messages: boundedList(InputMessage, { min: 1, max: MESSAGES_MAX }).describe(
    `The conversation so far, 1 to ${MESSAGES_MAX} messages.`,
  ),
  system: optionalField(
    Content,
    'Instructions for the whole conversation: a string, or text blocks.',
  ),
  tools: optionalField(
    boundedList(MessageTool, { max: TOOLS_MAX }),
    'Tools that the model may call. Those that the vendor defines or runs are refused by name, or left out where the model drops what it does not support, unless the engine of the model takes Messages itself.',
  ),
  tool_choice: optionalField(ToolChoice, 'How tools are used. Default auto.'),
  thinking: optionalField(
    Thinking,
    'Whether the model thinks before it answers, and whether the thinking is shown.',
  ),
  output_config: optionalField(OutputConfig, 'Effort and format of the answer.'),
  output_format: optionalField(OutputFormat, 'Older name of output_config.format.'),
  cache_control: optionalField(object(), 'Marks what a cache keeps; a hint.'),
  context_management: optionalField(object(), 'What may be cleared from the context; a hint.'),
  mcp_servers: optionalField(
    boundedList(object(), { max: TOOLS_MAX }),
    'Servers of tools; only where the engine takes Messages itself.',
  ),
} as const

const FIELDS = {
  ...PROMPT_FIELDS,
  max_tokens: boundedInteger('a whole number above 0', { min: 1, max: TOKENS_MAX }).describe(
    'Most tokens of the answer, thinking included.',
  ),
  stream: optionalFlag('Whether the answer comes as typed events.', false),
  stop_sequences: optionalField(
    boundedList(boundedText({ min: 1, max: STOP_CHARS_MAX }), { max: STOP_SEQUENCES_MAX }),
    'Texts that end the answer.',
  ),
  temperature: SAMPLING_FIELDS.temperature,
  top_p: SAMPLING_FIELDS.top_p,
  top_k: SAMPLING_FIELDS.top_k,
  metadata: optionalField(
    z.looseObject(
      { user_id: optionalField(userText(), 'Who the request is made for.') },
      ruleError('an object'),
    ),
    'About the request.',
  ),
  service_tier: optionalField(boundedText({ max: 32 }), 'Tier of the vendor; a hint.'),
  speed: optionalField(boundedText({ max: 32 }), 'standard; others only at the vendor.'),
  container: z.unknown().optional().describe('Only where the engine takes Messages itself.'),
  inference_geo: z.unknown().optional().describe('Only where the engine takes Messages itself.'),
  thread: z
    .unknown()
    .optional()
    .describe('Only where the engine takes Messages itself: nothing is kept here.'),
} as const

/** Body of a message to be made; unknown fields pass only to engines that take Messages. */
export const MessageCreateRequest = z.looseObject(FIELDS, ruleError('a JSON object')).meta({
  id: 'MessageCreateRequest',
  description:
    'A message to create, in the format of the Anthropic API. Models whose engine takes Messages itself get the body as it is.',
})
/** The named fields only, so that `keyof` stays the list of them. */
export type MessageCreateRequest = z.infer<z.ZodObject<typeof FIELDS, z.core.$strip>>

/** Body of a count of input tokens. */
export const MessageCountRequest = z.looseObject(PROMPT_FIELDS, ruleError('a JSON object')).meta({
  id: 'MessageCountRequest',
  description: 'A message whose input tokens are counted.',
})
export type MessageCountRequest = z.infer<z.ZodObject<typeof PROMPT_FIELDS, z.core.$strip>>
