/**
 * Fields of a chat request about tools, reasoning and the format of the completion. domain/chat/chat-rules.ts decides
 * which values a model accepts: the schema must not know models.
 */
import { z } from 'zod'
import {
  addIssue,
  boundedList,
  boundedText,
  optionalField,
  optionalFlag,
  ruleError,
} from '../bounded-fields.ts'
import { ResponseFormat, StructuredOutputs } from './structured-outputs.ts'

/** Tools of one request. Limit: each costs prompt tokens. */
export const TOOLS_MAX = 512
const TOOL_NAME_CHARS_MAX = 256
const TOOL_DESCRIPTION_CHARS_MAX = 65_536
const TOOL_TYPE_CHARS_MAX = 64

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

const toolType = boundedText({ min: 1, max: TOOL_TYPE_CHARS_MAX })
const toolName = boundedText({ min: 1, max: TOOL_NAME_CHARS_MAX })

const ToolFunction = z.looseObject(
  {
    name: toolName.describe('Name of the function.'),
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

const NamedTool = z.looseObject(
  { name: toolName.describe('Its name.') },
  ruleError('an object with a name'),
)

/** Checks that a tool of type function names one. */
function requireFunction({ issues, value }: z.core.ParsePayload<Typed>): void {
  const { type, function: called } = value
  if ((type ?? 'function') !== 'function' || (called ?? null) !== null) return
  const message = 'is required and must be an object with a name'
  addIssue({ issues, value }, { code: 'custom', path: ['function'], message })
}

interface Typed {
  readonly type?: string | null | undefined
  readonly function?: unknown
}

/**
 * A tool that the model may call.
 *
 * Spec: §4.3 tools (function is the only type). Choice: other types are well-formed too; its engine decides whether a
 * model accepts them.
 */
export const ChatTool = z
  .looseObject(
    {
      type: optionalField(
        toolType,
        'Kind of the tool: function, also when absent. Models whose engine knows more take others, such as custom.',
        'function',
      ),
      function: optionalField(
        ToolFunction,
        'The function that can be called; required where the type is function.',
      ),
      custom: optionalField(
        NamedTool.extend({
          description: optionalField(
            boundedText({ max: TOOL_DESCRIPTION_CHARS_MAX }),
            'What the tool does and when to call it.',
          ),
        }),
        'The custom tool, which is called with a text.',
      ),
    },
    ruleError('an object with a function'),
  )
  .check(requireFunction)
export type ChatTool = z.infer<typeof ChatTool>

const ToolChoice = z
  .looseObject(
    {
      type: toolType.describe(
        'function; models whose engine knows more take others, such as custom or allowed_tools.',
      ),
      function: optionalField(
        NamedTool,
        'The function that must be called; required where the type is function.',
      ),
      custom: optionalField(NamedTool, 'The custom tool that must be called.'),
      allowed_tools: optionalField(
        z.looseObject(
          {
            mode: optionalField(toolType, 'How they are used: auto or required.'),
            tools: optionalField(
              boundedList(
                z.looseObject(
                  { type: toolType.describe('Kind of the tool.') },
                  ruleError('a tool'),
                ),
                { max: TOOLS_MAX },
              ),
              'The tools that may be called.',
            ),
          },
          ruleError('an object with tools'),
        ),
        'The only tools of the request that may be called.',
      ),
    },
    ruleError('an object with a type and a function'),
  )
  .check(requireFunction)

/** Spec: §4.3. Choice: more values than the spec shows, for the models that can do more. */
export const TOOL_FIELDS = {
  tools: optionalField(
    boundedList(ChatTool, { max: TOOLS_MAX }),
    'Tools that the model may call; an empty list is the same as none.',
  ),
  tool_choice: optionalField(
    z.union(
      [boundedText({ min: 1, max: 64 }), ToolChoice],
      ruleError('a string or an object with a type and a function'),
    ),
    'How tools are used. none: not called. Models with tools also take auto, required, or one named function, and then auto is the default when tools are given; those whose engine knows it also take allowed_tools. Default none.',
    'none',
  ),
  parallel_tool_calls: optionalFlag('Whether one answer may hold several tool calls.', true),
  reasoning_effort: optionalField(
    z.enum(REASONING_EFFORTS, {
      error:
        'must be one of low, medium, high; or none, minimal, xhigh, max where the model has it',
    }),
    'How much the model reasons: low, medium, high; some models also take none, minimal, xhigh, max.',
  ),
  include_reasoning: optionalFlag('Whether the answer carries the reasoning.', true),
  response_format: optionalField(
    ResponseFormat,
    'Format of the answer: a JSON Schema, any JSON object, or plain text.',
  ),
  structured_outputs: optionalField(
    StructuredOutputs,
    'Constraint on the answer: exactly one of json, regex, choice, grammar, json_object, structural_tag.',
  ),
} as const
