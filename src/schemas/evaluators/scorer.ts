/** Scorers on the wire: rules, judges and webhooks. Additions to the spec. */
import { z } from 'zod'
import { boundedMap } from '../bounded-fields.ts'
import { SCORER_TIMEOUT_MS_MAX } from '../limits.ts'
import { FreeObject, nameOf } from '../primitives.ts'

/** Limits: characters. */
const PATH_MAX = 1_024
const PATTERN_MAX = 2_000
const TEXT_MAX = 100_000
const MODEL_MAX = 512
const URL_MAX = 2_048
/** Limits: texts of a rule, messages of a prompt, variables. */
const TEXTS_MAX = 100
const MESSAGES_MAX = 32
const VARIABLES_MAX = 64

/** A path of RFC 9535 in what is scored, with names, indices and wildcards only. */
const Path = z
  .string()
  .min(1, 'must not be empty')
  .max(PATH_MAX)
  .describe('Path in what is scored, as `$.output.choices[0].message.content`.')

const path = Path.default('$.output').describe('Path of the value that is checked.')
const text = z.string().max(TEXT_MAX)
const bound = z.number().min(0)
const ignore_case = z.boolean().default(false).describe('Whether case makes no difference.')

const RegexRule = z.strictObject({
  type: z.literal('regex').describe('Kind of the rule.'),
  path,
  pattern: z
    .string()
    .min(1, 'must not be empty')
    .max(PATTERN_MAX)
    .describe('Regular expression of ECMAScript, with the flag u.'),
  ignore_case,
})

const ContainsRule = z.strictObject({
  type: z.literal('contains').describe('Kind of the rule.'),
  path,
  texts: z
    .array(text.min(1, 'must not be empty'))
    .min(1)
    .max(TEXTS_MAX)
    .describe('Texts that are searched for.'),
  all: z.boolean().default(false).describe('Whether all texts must occur, or any one of them.'),
  ignore_case,
})

const EqualsRule = z.strictObject({
  type: z.literal('equals').describe('Kind of the rule.'),
  path,
  value: z
    .unknown()
    .optional()
    .describe('The expected value, any JSON. Default: that at `expected_path`.'),
  expected_path: Path.optional().describe('Path of the expected value, as `$.reference.answer`.'),
  ignore_case,
})

const SchemaRule = z.strictObject({
  type: z.literal('json_schema').describe('Kind of the rule.'),
  path,
  schema: FreeObject.describe('JSON Schema 2020-12. A text is parsed as JSON first.'),
})

const SimilarityRule = EqualsRule.extend({
  type: z.literal('similarity').describe('Kind of the rule.'),
  min: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'Least score that passes, from 0 to 1: of texts the share of characters that need no edit, of numbers 1 less their distance over the sum of their sizes, of lists and objects the mean over positions and keys.',
    ),
})

const LengthRule = z.strictObject({
  type: z.literal('length').describe('Kind of the rule.'),
  path,
  unit: z.enum(['characters', 'words']).default('characters'),
  min: bound.optional().describe('Least length. Default: any.'),
  max: bound.optional().describe('Greatest length. Default: any.'),
})

const LatencyRule = z.strictObject({
  type: z.literal('latency').describe('Kind of the rule.'),
  max_ms: bound.describe('Most milliseconds from start to end.'),
})

const CostRule = z.strictObject({
  type: z.literal('cost').describe('Kind of the rule.'),
  max_usd: bound.describe('Highest cost in US dollars; a call without a known cost has no score.'),
})

export const Rule = z.discriminatedUnion('type', [
  RegexRule,
  ContainsRule,
  EqualsRule,
  SchemaRule,
  SimilarityRule,
  LengthRule,
  LatencyRule,
  CostRule,
])
export type Rule = z.infer<typeof Rule>

export const RuleScorer = z
  .strictObject({
    kind: z.literal('rule').describe('Kind of the scorer.'),
    rule: Rule.describe('What is checked.'),
    negate: z.boolean().default(false).describe('Whether it passes where the rule does not.'),
  })
  .meta({ id: 'RuleScorer', description: 'A check without a model.' })
export type RuleScorer = z.infer<typeof RuleScorer>

const timeout = (fallback: number) =>
  z.int().min(1).max(SCORER_TIMEOUT_MS_MAX).default(fallback).describe('For each score.')

const Message = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']).describe('Who says it.'),
  content: text.describe('Text in which `{name}` stands for a variable, `{{` and `}}` for braces.'),
})

/** The answers of judges without a schema of their own. */
const JUDGE_SCHEMA = {
  type: 'object',
  properties: {
    reason: { type: 'string' },
    score: { type: 'number', minimum: 0, maximum: 1 },
  },
  required: ['reason', 'score'],
  additionalProperties: false,
}

export const JudgeScorer = z
  .strictObject({
    kind: z.literal('judge').describe('Kind of the scorer.'),
    model: nameOf(MODEL_MAX).describe('Any served model.'),
    messages: z.array(Message).min(1).max(MESSAGES_MAX).describe('The prompt.'),
    variables: boundedMap(Path, { max: VARIABLES_MAX })
      .default({ inputs: '$.inputs', output: '$.output' })
      .describe('Paths of the values of variables. Default: `inputs` and `output`.'),
    output_schema: FreeObject.default(JUDGE_SCHEMA).describe(
      'JSON Schema of the response, sent as `response_format` and checked. Default: `reason` and a `score` of 0 to 1.',
    ),
    max_tokens: z.int().min(1).max(100_000).default(1_024).describe('Longest response.'),
    temperature: z.number().min(0).max(2).default(0),
    timeout_ms: timeout(60_000),
  })
  .meta({ id: 'JudgeScorer', description: 'A model that scores.' })
export type JudgeScorer = z.infer<typeof JudgeScorer>

export const WebhookScorer = z
  .strictObject({
    kind: z.literal('webhook').describe('Kind of the scorer.'),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .max(URL_MAX)
      .describe(
        'Address that scores are requested from, by POST. Addresses of private networks only where the server allows the host.',
      ),
    timeout_ms: timeout(10_000),
  })
  .meta({ id: 'WebhookScorer', description: 'A service that scores.' })
export type WebhookScorer = z.infer<typeof WebhookScorer>

export const Scorer = z
  .discriminatedUnion('kind', [RuleScorer, JudgeScorer, WebhookScorer])
  .meta({ id: 'Scorer', description: 'What makes a score of a call.' })
export type Scorer = z.infer<typeof Scorer>
