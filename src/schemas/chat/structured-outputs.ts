/**
 * Constraints of a completion: the nested object `structured_outputs` and `response_format`. Which of their fields go
 * together is for domain/chat/chat-rules.ts.
 */
import { z } from 'zod'
import {
  boundedList,
  boundedText,
  flag,
  optionalField,
  optionalFlag,
  ruleError,
} from '../bounded-fields.ts'

/** Characters of a grammar, schema or pattern. Limit: 1 MiB, large API schemas are a tenth of it. */
const CONSTRAINT_CHARS_MAX = 1_048_576
/** Alternatives of `choice`. Limit: a classifier over ten thousand labels. */
const CHOICES_MAX = 10_000
const CHOICE_CHARS_MAX = 10_000

/** The fields that name a constraint; a request sets exactly one of them. Spec: §4.3. */
export const STRUCTURED_OUTPUT_KINDS = [
  'json',
  'regex',
  'choice',
  'grammar',
  'json_object',
  'structural_tag',
] as const

const constraintText = () => boundedText({ min: 1, max: CONSTRAINT_CHARS_MAX })

/**
 * The constraint of a completion, with the options of its engine.
 *
 * Spec: §4.3 structured_outputs. Choice: `json` may be the schema object itself besides its JSON text; unknown keys
 * pass.
 */
export const StructuredOutputs = z.looseObject(
  {
    json: optionalField(
      z.union([constraintText(), z.looseObject({})], ruleError('JSON text or an object')),
      'JSON Schema that the answer keeps: its JSON text, or the object itself.',
    ),
    regex: optionalField(
      constraintText().refine((value) => !value.includes('\0'), {
        error: 'must not hold the NUL character',
      }),
      'Regular expression that the whole answer matches.',
    ),
    choice: optionalField(
      boundedList(boundedText({ max: CHOICE_CHARS_MAX }), { min: 1, max: CHOICES_MAX }),
      'The answer is exactly one of these strings.',
    ),
    grammar: optionalField(constraintText(), 'Context-free grammar (EBNF) that the answer keeps.'),
    json_object: optionalField(
      flag(),
      'The answer is some JSON object. False is the same as left out.',
    ),
    disable_fallback: optionalFlag(
      'No other constraint engine is tried when the first one cannot.',
      false,
    ),
    disable_any_whitespace: optionalFlag(
      'JSON answers have no white space between their tokens.',
      false,
    ),
    disable_additional_properties: optionalFlag(
      'JSON objects have only the properties that their schema names.',
      false,
    ),
    whitespace_pattern: optionalField(
      boundedText({ max: 1_024 }),
      'Regular expression of the white space between JSON tokens.',
    ),
    structural_tag: optionalField(
      constraintText(),
      'JSON text of a structural tag: constrained pieces inside free text.',
    ),
    _backend: optionalField(
      boundedText({ max: 64 }),
      'Constraint engine that a client library chose. Accepted and not used.',
    ),
    _backend_was_auto: optionalFlag(
      'Whether the client library chose the engine by itself.',
      false,
    ),
  },
  ruleError('an object'),
)
export type StructuredOutputs = z.infer<typeof StructuredOutputs>

/** Values of `response_format.type`. Spec: §4.3 (shows only json_schema). */
const RESPONSE_FORMAT_TYPES = ['text', 'json_object', 'json_schema', 'structural_tag'] as const

const JsonSchemaFormat = z.looseObject(
  {
    name: boundedText({ min: 1, max: 256 }).describe('Name of the schema.'),
    description: optionalField(boundedText({ max: 65_536 }), 'What the answer is for.'),
    schema: optionalField(
      z.looseObject({}, ruleError('an object')),
      'JSON Schema that the answer keeps; any JSON when absent.',
    ),
    strict: optionalField(flag(), 'Whether the answer keeps the schema to the letter.'),
  },
  ruleError('an object with a name'),
)

/**
 * The format of a completion.
 *
 * Spec: §4.3 response_format. Choice: the types of RESPONSE_FORMAT_TYPES; when `type` is missing, `json_schema`
 * decides.
 */
export const ResponseFormat = z.looseObject(
  {
    type: optionalField(
      z.enum(RESPONSE_FORMAT_TYPES),
      'Kind of the format. json_schema when absent and a json_schema is given.',
    ),
    json_schema: optionalField(JsonSchemaFormat, 'The schema of a json_schema format.'),
  },
  ruleError('an object'),
)
export type ResponseFormat = z.infer<typeof ResponseFormat>
