/** Arguments of the tools of the Model Context Protocol. */
import { z } from 'zod'
import { boundedMap } from '../bounded-fields.ts'
import { CallsFilter } from '../calls/calls-filter.ts'
import { LooseFeedbackCreateRequest } from '../feedback/feedback.ts'
import { ObjectId, ObjectVersion } from '../objects/object.ts'
import { ClientId, ProjectId } from '../primitives.ts'
import { Query } from '../query/query-expression.ts'
import { CallStatsRequest } from '../stats/stats.ts'

/** Limits: items of one result. */
const ITEMS_MAX = 50
export const TRACE_CALLS_MAX = 200

const BODY_CHARS_MAX = 20_000
const TEXT_CHARS_MAX = 200
const REF_CHARS_MAX = 2048
/** Limits of a completion. */
const VARIABLES_MAX = 100
const COMPLETION_TOKENS_MAX = 4096

function bodyChars(chars: number) {
  return z
    .int()
    .min(1)
    .max(BODY_CHARS_MAX)
    .default(chars)
    .describe('Characters of JSON after which each body is cut.')
}

const limit = z.int().min(1).max(ITEMS_MAX).default(20).describe('Maximum number of items.')
const offset = z.int().min(0).default(0).describe('Number of items to skip.')

export const SearchCallsArguments = z.strictObject({
  project_id: ProjectId,
  text: z
    .string()
    .min(1)
    .max(TEXT_CHARS_MAX)
    .optional()
    .describe('Text in inputs, output, error or name of the operation, ignoring case.'),
  filter: CallsFilter.optional(),
  query: Query.optional().describe(
    'A further condition, such as `{"$expr": {"$gte": [{"$getField": "started_at"}, {"$literal": "2026-01-31T09:30:00Z"}]}}`.',
  ),
  limit,
  offset,
  body_chars: bodyChars(500),
})
export type SearchCallsArguments = z.infer<typeof SearchCallsArguments>

export const ReadTraceArguments = z.strictObject({
  project_id: ProjectId,
  trace_id: ClientId.describe('trace_id of one of its calls.'),
  offset,
  body_chars: bodyChars(2000),
})

/** Without the name of the request: a named schema is only referred to, but clients demand an object. */
export const CallStatsArguments = z.strictObject(CallStatsRequest.shape)

export const ListObjectsArguments = z.strictObject({
  project_id: ProjectId,
  limit,
  offset,
  body_chars: bodyChars(4000),
})
export type ListObjectsArguments = z.infer<typeof ListObjectsArguments>

export const ReadRowsArguments = z.strictObject({
  project_id: ProjectId,
  rows: z
    .string()
    .max(REF_CHARS_MAX)
    .describe('The ref in `rows` of a dataset, or the digest of its table.'),
  limit,
  offset,
  body_chars: bodyChars(2000),
})

export const ListEvaluationsArguments = z.strictObject({
  project_id: ProjectId,
  limit,
  offset,
  body_chars: bodyChars(2000),
})

export const ReadEvaluationArguments = z.strictObject({
  project_id: ProjectId,
  evaluation_id: ClientId.describe('id of one of list_evaluations.'),
  limit,
  offset,
  body_chars: bodyChars(1000),
})

const object_id = ObjectId.describe('object_id of one of list_prompts.')
const version = ObjectVersion.default('latest')

export const ReadPromptArguments = z.strictObject({
  project_id: ProjectId,
  object_id,
  version,
  body_chars: bodyChars(BODY_CHARS_MAX),
})

export const RunPromptArguments = z.strictObject({
  project_id: ProjectId,
  object_id,
  version,
  model: z
    .string()
    .min(1)
    .max(TEXT_CHARS_MAX)
    .optional()
    .describe('Name of the model; the default model when absent.'),
  template_vars: boundedMap(z.unknown(), { max: VARIABLES_MAX })
    .optional()
    .describe('Values for `{name}` in its texts.'),
  text: z
    .string()
    .max(BODY_CHARS_MAX)
    .optional()
    .describe('A message of the user that follows those of the prompt.'),
  max_tokens: z
    .int()
    .min(1)
    .max(COMPLETION_TOKENS_MAX)
    .default(1024)
    .describe('Maximum number of tokens of the completion.'),
  body_chars: bodyChars(BODY_CHARS_MAX),
})
export type RunPromptArguments = z.infer<typeof RunPromptArguments>

const { feedback_type, payload, creator } = LooseFeedbackCreateRequest.shape

export const AddFeedbackArguments = z.strictObject({
  project_id: ProjectId,
  call_id: ClientId.describe('The call that the feedback is on.'),
  feedback_type: feedback_type.describe(
    '`wandb.note` with the payload `{"note": text}`, `wandb.reaction` with `{"emoji": emoji}`, or a type of your own, such as `correctness`.',
  ),
  payload: payload.describe('The score or comment, such as `{"output": 0.8}`.'),
  creator,
})
