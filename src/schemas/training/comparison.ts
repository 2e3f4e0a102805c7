/** Comparisons of models on held-out prompts, an addition to the spec. Spec: §2.12 (rewards, and nothing of progress). */
import { z } from 'zod'
import { Scorer } from '../evaluators/scorer.ts'
import { FreeObject, ProjectId, Time, Total } from '../primitives.ts'
import {
  HELD_OUT_DEFAULT,
  HELD_OUT_MAX,
  TRAJECTORY_SOURCE,
  TrajectoryStats,
} from './trajectory-from-calls.ts'

/** Limits: models, prompts, responses to one prompt, tokens. */
const COMPARED_MAX = 8
const PROMPTS_MAX = 500
const SAMPLES_MAX = 64
const TOKENS_MAX = 1_000_000
const MODEL_CHARS_MAX = 512
const ID_CHARS_MAX = 128
const TEMPERATURE_MAX = 2
const SEED_MAX = 2 ** 31

const Name = z.string().min(1, 'must not be empty').max(MODEL_CHARS_MAX)

export const ComparisonCreateRequest = z
  .strictObject({
    ...TRAJECTORY_SOURCE,
    held_out: z
      .number()
      .gt(0, 'must be above 0: prompts that were trained on show nothing')
      .max(HELD_OUT_MAX)
      .default(HELD_OUT_DEFAULT)
      .describe('Share of the prompts that is held out: the one of the training job.'),
    compare: z
      .array(Name)
      .min(2, 'must name at least two models')
      .max(COMPARED_MAX)
      .describe('Names of models; the others are compared with the first, as `owl:step0`.'),
    scorer: Scorer.nullish().describe('What rewards the new responses: a rule, judge or webhook.'),
    evaluator_id: z
      .string()
      .max(ID_CHARS_MAX)
      .nullish()
      .describe('Instead: the evaluator of the project whose scorer does.'),
    prompts_max: z
      .int()
      .min(1)
      .max(PROMPTS_MAX)
      .default(100)
      .describe('Maximum number of held-out prompts that are asked.'),
    samples: z
      .int()
      .min(1)
      .max(SAMPLES_MAX)
      .default(4)
      .describe('Responses of each model to each prompt.'),
    max_tokens: z.int().min(1).max(TOKENS_MAX).default(256).describe('Of a response.'),
    temperature: z.number().min(0).max(TEMPERATURE_MAX).default(1).describe('Of the sampling.'),
    seed: z
      .int()
      .min(0)
      .max(SEED_MAX)
      .default(0)
      .describe('Of the requests, of which prompts are taken, and of the interval.'),
  })
  .refine(
    ({ scorer, evaluator_id }) => (scorer ?? null) === null || (evaluator_id ?? null) === null,
    {
      path: ['evaluator_id'],
      message: 'must not be given with a scorer',
    },
  )
  .meta({ id: 'ComparisonCreateRequest', description: 'Which models to compare on which prompts.' })

export const ComparisonCreateResponse = z
  .object({
    id: z.string().describe('Id of the comparison, and of the trace of its responses.'),
    prompts: Total.describe('Held-out prompts that are asked.'),
    requests: Total.describe('Responses that are asked for.'),
    stats: TrajectoryStats.describe('Numbers of calls, groups and rollouts.'),
  })
  .meta({ id: 'ComparisonCreateResponse', description: 'A comparison that has begun.' })

export const ComparisonPath = z.object({
  comparison_id: z.string().max(ID_CHARS_MAX).describe('Id of the comparison.'),
})
export const ComparisonQuery = z.object({ project_id: ProjectId })

export const ComparisonResponse = z
  .object({
    id: z.string().describe('Id of the comparison.'),
    models: z
      .array(z.string())
      .describe('What is compared; the first is what the others are compared with.'),
    created_at: Time.describe('When it was requested, UTC.'),
    state: z.enum(['running', 'complete', 'failed', 'cancelled']).describe('How far it is.'),
    completed: Total.describe('Responses so far.'),
    requests: Total.describe('Responses in all.'),
    error: z.string().nullable().describe('Why it failed; null: it did not.'),
    result: FreeObject.nullable().describe(
      'Null before its end: `prompts`, `samples`, `failures`, and `models`, each with its `model`, `responses`, `failed`, `mean_reward`, and the `difference` to the first: `mean`, `low` and `high` of the 95 % interval over prompts, `p_value`.',
    ),
  })
  .meta({ id: 'ComparisonResponse', description: 'A comparison.' })
export type ComparisonResponse = z.infer<typeof ComparisonResponse>

export const ComparisonListResponse = z
  .object({
    comparisons: z
      .array(ComparisonResponse)
      .describe('Those that have ended, the newest first; at most 100.'),
  })
  .meta({ id: 'ComparisonListResponse', description: 'Comparisons that have ended.' })
