/**
 * The eight message variants of a chat request. They are tolerant: whatever a chat template can refuse is accepted
 * here, and unknown keys are retained. No issue may ever repeat a message's text.
 */
import { z } from 'zod'
import {
  addIssue,
  boundedList,
  boundedMap,
  boundedText,
  describeJson,
  ruleError,
} from '../bounded-fields.ts'

/** Parts of one message's content. Limit: a long video prompt sends some hundred frames. */
export const CONTENT_PARTS_MAX = 10_000
/** Tool calls of one assistant message. */
const TOOL_CALLS_MAX = 512

const ROLE_CHARS_MAX = 64
const NAME_CHARS_MAX = 1_024

const ContentPartObject = z
  .looseObject(
    {
      type: boundedText({ min: 1, max: 64 }).describe(
        'Kind of the part: text, image_url, input_audio, audio_url, video_url, file, refusal, ...',
      ),
      text: z.string(ruleError('a string')).nullish().describe('The text of a text part.'),
    },
    ruleError('a string or an object with a type'),
  )
  .meta({ title: 'ChatCompletionContentPart' })

/**
 * One part of a message's content: a bare string or an object with a `type`.
 *
 * Spec: §2.10 (shows only string content). Choice: any type passes; its backend decides whether the model can read
 * it.
 */
export const ContentPart = z.union([z.string(), ContentPartObject], {
  error: 'must be a string or an object with a type of 1 to 64 characters',
})
export type ContentPart = z.infer<typeof ContentPart>

const Content = z.union(
  [z.string(), boundedList(ContentPart, { max: CONTENT_PARTS_MAX })],
  ruleError(`a string or a list of at most ${CONTENT_PARTS_MAX} content parts`),
)

const FunctionCall = z.looseObject(
  {
    name: boundedText({ min: 1, max: NAME_CHARS_MAX }).describe('Name of the called function.'),
    arguments: z
      .union([z.string(), z.looseObject({})], ruleError('JSON text or an object'))
      .nullish()
      .describe('Arguments of the call: JSON text, or the object itself.'),
  },
  ruleError('an object with a name'),
)

const ToolCall = z.looseObject(
  {
    id: z
      .string(ruleError('a string'))
      .nullish()
      .describe('Id that the answering tool message repeats.'),
    type: z
      .string(ruleError('a string'))
      .nullish()
      .describe('Kind of the call: function; of engines that know them others, such as custom.'),
    function: FunctionCall.nullish().describe('The called function and its arguments.'),
  },
  ruleError('an object'),
)

// Only the type: the variant checks the length, and a fault should be reported once.
const anyRole = z
  .string(ruleError(`a string of 1 to ${ROLE_CHARS_MAX} characters`))
  .describe('Role of the speaker; it selects the variant.')
const role = boundedText({ min: 1, max: ROLE_CHARS_MAX }).describe('Role of the speaker.')
const requiredContent = Content.describe('Content: a string, or a list of content parts.')
const givenContent = Content.nullable().describe(
  'Content: a string, a list of content parts, or null for nothing.',
)
const content = Content.nullish().describe('Content: a string, or a list of content parts.')
const text = (description: string) =>
  z.string(ruleError('a string')).nullish().describe(description)
const name = boundedText({ max: NAME_CHARS_MAX })
  .nullish()
  .describe('Name of the speaker, to distinguish speakers of the same role.')
const toolCalls = boundedList(ToolCall, { max: TOOL_CALLS_MAX })
  .nullish()
  .describe('Tool calls that the assistant made.')

/** Instructions of the developer, which take precedence over users. Spec: §2.10, §4.3 messages. */
export const ChatCompletionDeveloperMessageParam = variant('ChatCompletionDeveloperMessageParam', {
  role: roleNamed('developer'),
  content: requiredContent,
  name,
})

/** Instructions for the whole conversation. Spec: §2.10. */
export const ChatCompletionSystemMessageParam = variant('ChatCompletionSystemMessageParam', {
  role: roleNamed('system'),
  content: requiredContent,
  name,
})

/** Message of the user. Spec: §2.10. */
export const ChatCompletionUserMessageParam = variant('ChatCompletionUserMessageParam', {
  role: roleNamed('user'),
  content: requiredContent,
  name,
})

const ASSISTANT_PAYLOADS = [
  'content',
  'tool_calls',
  'function_call',
  'audio',
  'refusal',
  'reasoning',
  'reasoning_content',
] as const

/**
 * Message of the assistant: text, tool calls, a refusal or reasoning.
 *
 * Spec: §2.10. Choice: one of content, tool_calls, function_call, audio, refusal, reasoning must be there.
 */
export const ChatCompletionAssistantMessageParam = variant('ChatCompletionAssistantMessageParam', {
  role: roleNamed('assistant'),
  content,
  name,
  tool_calls: toolCalls,
  function_call: FunctionCall.nullish().meta({
    description: 'Deprecated form of one tool call.',
    deprecated: true,
  }),
  audio: boundedMap(z.unknown(), { max: 64 }).nullish().describe('An earlier audio answer: {id}.'),
  refusal: text('The refusal that the assistant gave.'),
  reasoning: text('The reasoning before the answer.'),
  reasoning_content: text('Older name of reasoning.'),
}).check((context) => {
  const message = context.value
  if (ASSISTANT_PAYLOADS.some((key) => holdsSomething(message[key]))) return
  const rule = `must be given when none of ${ASSISTANT_PAYLOADS.slice(1).join(', ')} is`
  addIssue(context, { code: 'custom', path: ['content'], message: rule })
})

/**
 * Result of a tool.
 *
 * Spec: §2.10. Choice: content must be there and may be null, which clients send for a tool without a result;
 * tool_call_id may be missing, engines tolerate it and some templates never read it.
 */
export const ChatCompletionToolMessageParam = variant('ChatCompletionToolMessageParam', {
  role: roleNamed('tool'),
  content: givenContent,
  name,
  tool_call_id: text('Id of the tool call that this answers.'),
})

/** Result of a function, the deprecated form of a tool message. Spec: §2.10. */
export const ChatCompletionFunctionMessageParam = variant('ChatCompletionFunctionMessageParam', {
  role: roleNamed('function'),
  content: givenContent,
  name: boundedText({ min: 1, max: NAME_CHARS_MAX }).describe('Name of the function; required.'),
})

/** A message of any other role, for templates that know more roles. Spec: §2.10. */
export const CustomChatCompletionMessageParam = variant('CustomChatCompletionMessageParam', {
  role,
  content: givenContent,
  name,
  tool_call_id: text('Id of the tool call that this answers.'),
  tool_calls: toolCalls,
  reasoning: text('The reasoning before the answer.'),
})

/** The generic message of channel-based templates, with its author's role and name as fields of the message. Spec: §2.10. */
export const Message = variant('Message', {
  role,
  content: givenContent,
  name,
  channel: text('Channel of the message, as analysis or final.'),
  recipient: text('Whom the message is for, as a tool.'),
  content_type: text('Format of the content.'),
})

const VARIANT_OF_ROLE: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  ['developer', ChatCompletionDeveloperMessageParam],
  ['system', ChatCompletionSystemMessageParam],
  ['user', ChatCompletionUserMessageParam],
  ['assistant', ChatCompletionAssistantMessageParam],
  ['tool', ChatCompletionToolMessageParam],
  ['function', ChatCompletionFunctionMessageParam],
])

const GENERIC_KEYS = ['channel', 'recipient', 'content_type']

/** The variant that a message must match: by its role, or for unknown roles by its keys. */
export function chooseMessageVariant(message: Readonly<Record<string, unknown>>): z.ZodType {
  const known = VARIANT_OF_ROLE.get(String(message.role))
  if (known !== undefined) return known
  const isGeneric = GENERIC_KEYS.some((key) => Object.hasOwn(message, key))
  return isGeneric ? Message : CustomChatCompletionMessageParam
}

const PLAIN_ROLES: readonly unknown[] = ['developer', 'system', 'user', 'assistant', 'tool']

/**
 * Returns whether a message consists of a known role and a text only, as nearly all do. Such a message matches its
 * variant.
 */
export function isPlainMessage(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false
  const { role, content } = message as Readonly<Record<string, unknown>>
  if (typeof content !== 'string' || !PLAIN_ROLES.includes(role)) return false
  return Object.keys(message).length === 2
}

/** A checked message of any variant: role is there, all else depends on the role. */
export interface ChatMessage {
  role: string
  content?: string | ContentPart[] | null
  name?: string | null
  tool_calls?: ToolCall[] | null
  tool_call_id?: string | null
  function_call?: FunctionCall | null
  refusal?: string | null
  reasoning?: string | null
  reasoning_content?: string | null
  [key: string]: unknown
}
type ToolCall = z.infer<typeof ToolCall>
type FunctionCall = z.infer<typeof FunctionCall>

/**
 * One message of a request: its role selects the variant that it must match. A union would try all variants and report
 * the faults of each; this reports those of one.
 *
 * Spec: §2.10, §4.3 messages.
 * Choice: the checks of chooseMessageVariant's schemas; whatever they do not name passes.
 */
export const ChatMessage = z
  .looseObject({ role: anyRole }, ruleError('an object with a role'))
  .check((context) => {
    const result = chooseMessageVariant(context.value).safeParse(context.value)
    for (const issue of result.error?.issues ?? []) addIssue(context, issue)
  })
  .meta({
    anyOf: [...VARIANT_OF_ROLE.values(), CustomChatCompletionMessageParam, Message].map(
      describeJson,
    ),
  }) as unknown as z.ZodType<ChatMessage, ChatMessage>

/** Returns the schema of a variant under its spec name; unknown keys are retained. */
function variant<T extends z.core.$ZodLooseShape>(title: string, shape: T) {
  return z.looseObject(shape, ruleError('an object with a role')).meta({ id: title })
}

function roleNamed<T extends string>(value: T) {
  return z.literal(value).describe(`Role of the speaker: ${value}.`)
}

/** Returns whether a field of a message counts as present: an empty string does, an empty list does not. */
function holdsSomething(value: unknown): boolean {
  if (value === null || value === undefined) return false
  return !Array.isArray(value) || value.length > 0
}
