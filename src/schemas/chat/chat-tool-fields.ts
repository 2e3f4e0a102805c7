/**
 * Fields of a chat request about tools, reasoning and the form of the answer. Which values a model
 * takes is for domain/chat/chat-rules.ts: the schema must not know models.
 */
import { z } from 'zod'
import { boundedList, boundedText, flag, optionalField, ruleError } from '../bounded-fields.ts'
import { ResponseFormat, StructuredOutputs } from './structured-outputs.ts'

/** Tools of one request. Limit: each costs prompt tokens. */
export const TOOLS_MAX = 512
const TOOL_NAME_CHARS_MAX = 256
const TOOL_DESCRIPTION_CHARS_MAX = 65_536

/** Every effort that some model knows; the spec's own are the middle three. Spec: §4.3. */
export const REASONING_EFFORTS = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number]

const ToolFunction = z.looseObject(
  {
    name: boundedText({ min: 1, max: TOOL_NAME_CHARS_MAX }).describe('Name of the function.'),
    description: optionalField(
      boundedText({ max: TOOL_DESCRIPTION_CHARS_MAX }),
      'What the function does and when to call it.',
    ),
    parameters: optionalField(
      z.looseObject({}, ruleError('an object')),
      "JSON Schema of the function's arguments; none when absent.",
    ),
  },
  ruleError('an object with a name'),
)

/** A tool that the model may call. Spec: §4.3 tools. */
export const ChatTool = z.looseObject(
  {
    type: optionalField(
      z.literal('function', { error: 'must be function' }),
      'Kind of the tool: function, also when absent.',
      'function',
    ),
    function: ToolFunction.describe('The function that can be called.'),
  },
  ruleError('an object with a function'),
)
export type ChatTool = z.infer<typeof ChatTool>

const NamedToolChoice = z.looseObject(
  {
    type: z.literal('function', { error: 'must be function' }).describe('Always function.'),
    function: z
      .looseObject(
        {
          name: boundedText({ min: 1, max: TOOL_NAME_CHARS_MAX }).describe('Name of the function.'),
        },
        ruleError('an object with a name'),
      )
      .describe('The function that must be called.'),
  },
  ruleError('an object with a type and a function'),
)

/** Spec: §4.3. Choice: more values than the spec shows, for the models that can do more. */
export const TOOL_FIELDS = {
  tools: optionalField(
    boundedList(ChatTool, { max: TOOLS_MAX }),
    'Functions that the model may call; an empty list is the same as none.',
  ),
  tool_choice: optionalField(
    z.union(
      [boundedText({ min: 1, max: 64 }), NamedToolChoice],
      ruleError('a string or an object with a type and a function'),
    ),
    'How tools are used. none: not called. Models with tools also take auto, required, or one named function, and then auto is the default when tools are given. Default none.',
    'none',
  ),
  parallel_tool_calls: optionalField(
    flag(),
    'Whether one answer may hold several tool calls. Default true.',
    true,
  ),
  reasoning_effort: optionalField(
    z.enum(REASONING_EFFORTS, {
      error:
        'must be one of low, medium, high; or none, minimal, xhigh, max where the model has it',
    }),
    'How much the model reasons: low, medium, high; some models also take none, minimal, xhigh, max.',
  ),
  include_reasoning: optionalField(
    flag(),
    'Whether the answer carries the reasoning. Default true.',
    true,
  ),
  response_format: optionalField(
    ResponseFormat,
    'Format of the answer: a JSON Schema, any JSON object, or plain text.',
  ),
  structured_outputs: optionalField(
    StructuredOutputs,
    'Constraint on the answer: exactly one of json, regex, choice, grammar, json_object, structural_tag.',
  ),
} as const
