/**
 * What a response is made from: the items of its input, and the tools that it may call. Items are tolerant, as chat
 * messages are: domain/chat/responses/responses-input.ts decides which of them the server can use.
 */
import { z } from 'zod'
import {
  boundedList,
  boundedText,
  optionalField,
  optionalFlag,
  ruleError,
} from '../../bounded-fields.ts'
import { CONTENT_PARTS_MAX } from '../chat-message.ts'
import { TOOLS_MAX } from '../chat-tool-fields.ts'

/** Items of one input. */
export const INPUT_ITEMS_MAX = 10_000
const TYPE_CHARS_MAX = 64
const ID_CHARS_MAX = 256
const NAME_CHARS_MAX = 256
const DESCRIPTION_CHARS_MAX = 65_536

const type = (description: string) =>
  optionalField(boundedText({ min: 1, max: TYPE_CHARS_MAX }), description)
const id = (description: string) => optionalField(boundedText({ max: ID_CHARS_MAX }), description)
const text = (description: string) => optionalField(z.string(ruleError('a string')), description)

/** A part of a message or of a tool's output. */
const InputPart = z.looseObject(
  {
    type: boundedText({ min: 1, max: TYPE_CHARS_MAX }).describe(
      'Kind of the part: input_text, input_image, input_file, input_audio, output_text, refusal.',
    ),
    text: text('The text of a text part.'),
    refusal: text('Why the model refused.'),
    image_url: text('Address of the image, or the image as a data URL.'),
    file_data: text('The file as a data URL.'),
    filename: text('Name of the file.'),
  },
  ruleError('an object with a type'),
)
export type InputPart = z.infer<typeof InputPart>

const Content = z.union(
  [z.string(), boundedList(InputPart, { max: CONTENT_PARTS_MAX })],
  ruleError(`a string or a list of at most ${CONTENT_PARTS_MAX} parts`),
)

const ReasoningPart = z.looseObject({ text: text('The text.') }, ruleError('an object'))

/** One item of the input; its `type` determines which fields apply. */
export const InputItem = z
  .looseObject(
    {
      type: type(
        'Kind of the item: message (also when absent), function_call, function_call_output, reasoning, item_reference.',
      ),
      id: id('Id of the item.'),
      role: optionalField(
        z.enum(['user', 'assistant', 'system', 'developer'], {
          error: 'must be user, assistant, system or developer',
        }),
        'Role of the speaker of a message.',
      ),
      content: z
        .union([Content, z.null()], ruleError('a string or a list of parts'))
        .optional()
        .describe('Content of a message or of reasoning: a string, or a list of parts.'),
      call_id: id('Which call this is, or which one it answers.'),
      name: optionalField(boundedText({ max: NAME_CHARS_MAX }), 'Name of the called function.'),
      arguments: text('Arguments of the call as JSON text.'),
      output: optionalField(
        z.union([Content, z.looseObject({})], ruleError('a string, a list of parts or an object')),
        'What the function gave: a string, or a list of parts. Objects are of tools of an engine.',
      ),
      summary: optionalField(
        boundedList(ReasoningPart, { max: CONTENT_PARTS_MAX }),
        'Summaries of the reasoning.',
      ),
    },
    ruleError('an object'),
  )
  .meta({ id: 'ResponseInputItem', description: 'An item of the input of a response.' })
export type InputItem = z.infer<typeof InputItem>

const TOOL_FIELDS = {
  type: boundedText({ min: 1, max: TYPE_CHARS_MAX }).describe(
    'Kind of the tool: function or namespace.',
  ),
  name: optionalField(
    boundedText({ max: NAME_CHARS_MAX }),
    'Name of the function or of the namespace.',
  ),
  description: optionalField(
    boundedText({ max: DESCRIPTION_CHARS_MAX }),
    'What the function does and when to call it.',
  ),
  parameters: optionalField(
    z.looseObject({}, ruleError('an object')),
    "JSON Schema of the function's arguments.",
  ),
  strict: optionalField(
    z.boolean(ruleError('true or false')),
    'Whether the arguments must keep the schema to the letter.',
  ),
}

const NamespaceTool = z.looseObject(TOOL_FIELDS, ruleError('an object with a type'))

/** A tool that may be called: a function, or a namespace of functions; others only where the engine makes the response. */
const ResponseTool = z.looseObject(
  {
    ...TOOL_FIELDS,
    tools: optionalField(
      boundedList(NamespaceTool, { max: TOOLS_MAX }),
      'Functions of a namespace.',
    ),
  },
  ruleError('an object with a type'),
)
export type ResponseTool = z.infer<typeof ResponseTool>

const AllowedTool = z.looseObject(
  {
    type: boundedText({ min: 1, max: TYPE_CHARS_MAX }).describe('Kind of the tool: function.'),
    name: optionalField(boundedText({ max: NAME_CHARS_MAX }), 'Name of the function.'),
  },
  ruleError('an object with a type'),
)

const ToolChoice = z.union(
  [
    z.enum(['none', 'auto', 'required']),
    z.looseObject(
      {
        type: boundedText({ min: 1, max: TYPE_CHARS_MAX }).describe('function or allowed_tools.'),
        name: optionalField(
          boundedText({ max: NAME_CHARS_MAX }),
          'The function that must be called.',
        ),
        mode: optionalField(z.enum(['auto', 'required']), 'How the allowed tools are used.'),
        tools: optionalField(
          boundedList(AllowedTool, {
            max: TOOLS_MAX,
          }),
          'The tools that may be called.',
        ),
      },
      ruleError('an object with a type'),
    ),
  ],
  ruleError('none, auto, required, or an object with a type'),
)

/** Fields of a request about tools. */
export const RESPONSE_TOOL_FIELDS = {
  tools: optionalField(
    boundedList(ResponseTool, { max: TOOLS_MAX }),
    'Functions that the model may call, also in namespaces. Other tools (web_search, code_interpreter, custom, ...) are refused by name, or left out where the model drops what it does not support, unless the engine of the model makes the response itself.',
  ),
  tool_choice: optionalField(
    ToolChoice,
    'How tools are used: none, auto, required, {type: function, name}, or {type: allowed_tools, mode, tools}. Default auto where the model calls tools.',
  ),
  parallel_tool_calls: optionalFlag('Whether one answer may hold several calls.', true),
  max_tool_calls: optionalField(
    z.int(ruleError('a whole number')),
    'Most calls of tools that the server runs, of which there are none.',
  ),
} as const
