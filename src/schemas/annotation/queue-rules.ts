/** Rules by which calls are added to an annotation queue. Additions to the spec. */
import { z } from 'zod'
import { CallsFilter } from '../calls/calls-filter.ts'
import { Query } from '../query/query-expression.ts'

/** Limits: rules of scores, evaluators of a rule, calls a day, calls that wait. */
const SCORES_MAX = 20
const EVALUATORS_MAX = 20
const PER_DAY_MAX = 10_000
const WAITING_MAX = 100_000
const TYPE_LENGTH_MAX = 256

const ScoreRule = z
  .strictObject({
    feedback_type: z
      .string()
      .min(1)
      .max(TYPE_LENGTH_MAX)
      .describe('Type of the feedback, such as `wandb.runnable.helpful`.'),
    below: z.number().nullish().describe('Calls with a score less than this.'),
    above: z.number().nullish().describe('Calls with a score greater than this.'),
  })
  .refine(
    ({ below, above }) => (below ?? null) !== null || (above ?? null) !== null,
    'must have below or above',
  )

export const QueueRules = z
  .strictObject({
    filter: CallsFilter.nullish().describe('Which calls may be added; all when absent.'),
    query: Query.nullish().describe('A further condition on the calls.'),
    random: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('Adds this share of the traces, chosen by a hash of the trace id.'),
    thumbs_down: z.boolean().nullish().describe('Adds calls with a 👎 as a reaction.'),
    scores: z
      .array(ScoreRule)
      .max(SCORES_MAX)
      .nullish()
      .describe('Adds calls with a score outside of bounds.'),
    disagreement: z
      .strictObject({
        difference: z
          .number()
          .gt(0)
          .default(0.5)
          .describe('Least difference between two scores; a pass is 1, a failure 0.'),
        evaluators: z
          .array(z.string().min(1).max(TYPE_LENGTH_MAX))
          .max(EVALUATORS_MAX)
          .nullish()
          .describe('Names of the evaluators that are compared. Default: all.'),
      })
      .nullish()
      .describe('Adds calls on which evaluators disagree, by the newest score of each.'),
    max_per_day: z
      .int()
      .min(1)
      .max(PER_DAY_MAX)
      .default(100)
      .describe('Calls that rules add in a day in UTC, at most; more are left out.'),
    max_waiting: z
      .int()
      .min(1)
      .max(WAITING_MAX)
      .default(1_000)
      .describe('Rules add nothing while so many calls of the queue are not rated.'),
  })
  .meta({
    id: 'QueueRules',
    description: 'What adds calls to a queue; any rule suffices. An object without a rule is none.',
  })
export type QueueRules = z.infer<typeof QueueRules>
