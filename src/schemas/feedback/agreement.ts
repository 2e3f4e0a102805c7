/** Agreement of raters on the wire. Additions to the spec. */
import { z } from 'zod'
import { ClientId, ProjectId, Timestamp, Total } from '../primitives.ts'

/** Limits: types of a request, calls of one. */
const TYPES_MAX = 20
const TYPE_LENGTH_MAX = 256
const CALLS_MAX = 5_000

/** Which ratings of people are compared. */
export const ratingFields = {
  queue_id: ClientId.nullish().describe('Only ratings that were given in this queue.'),
  feedback_types: z
    .array(z.string().min(1).max(TYPE_LENGTH_MAX))
    .max(TYPES_MAX)
    .nullish()
    .describe('Types of the ratings of people. Needed without a queue. Default: all.'),
  after: Timestamp.nullish().describe('Ratings at or after this time, without a queue.'),
  before: Timestamp.nullish().describe('Ratings before this time, without a queue.'),
  limit: z
    .int()
    .min(1)
    .max(CALLS_MAX)
    .nullish()
    .describe('Calls that are compared, those rated last. Default: 1,000.'),
  people_pass_at: z
    .number()
    .nullish()
    .describe(
      'Numbers of people are a pass from here on. Default: 0.5 where the other side only passes or fails.',
    ),
  judge_pass_at: z.number().nullish().describe('The same for numbers of judges.'),
}

export const AgreementRequest = z
  .strictObject({
    project_id: ProjectId,
    ...ratingFields,
    evaluators: z
      .array(z.string().min(1).max(TYPE_LENGTH_MAX))
      .max(TYPES_MAX)
      .nullish()
      .describe('Names of the judges that people are compared with. Default: all.'),
  })
  .meta({ id: 'AgreementRequest', description: 'Whose ratings to compare.' })
export type AgreementRequest = z.infer<typeof AgreementRequest>

const Value = z.union([z.boolean(), z.number(), z.string()])

const Rater = z.object({
  kind: z.enum(['person', 'people', 'judge']).describe('`people`: what most of them say.'),
  name: z.string().describe('Id of the user, name of the evaluator, or `people`.'),
  feedback_type: z.string().describe('Type of the ratings.'),
  ratings: Total.describe('Calls that it rated.'),
})

const coefficient = z.number().nullable()

export const PairAgreement = z
  .object({
    left: Rater.describe('One rater: a person, or people where the other is a judge.'),
    right: Rater.describe('The other one.'),
    calls: Total.describe('Calls that both rated.'),
    agreed: Total.describe('Those of them to which both gave the same rating.'),
    kappa: coefficient.describe("Cohen's kappa; null: no call, or all ratings are the same."),
    weighted_kappa: coefficient.describe(
      'Kappa weighted by the squared difference; null where ratings are no numbers.',
    ),
    mean_difference: coefficient.describe(
      'Mean absolute difference; null where ratings are no numbers.',
    ),
    labels: z.array(Value).nullable().describe('Ratings in order; null: more than 20.'),
    confusion: z
      .array(z.array(Total))
      .nullable()
      .describe('Calls by rating of the left side (rows) and of the right (columns).'),
    disagreements: z
      .array(
        z.object({
          call_id: z.string().describe('The call.'),
          left: Value.describe('Rating of the left side.'),
          right: Value.describe('Rating of the right side.'),
        }),
      )
      .describe('Calls that were rated differently, the greatest difference first; at most 50.'),
  })
  .meta({ id: 'PairAgreement', description: 'How far two raters agree.' })
export type PairAgreement = z.infer<typeof PairAgreement>

export const AgreementResponse = z
  .object({
    calls: Total.describe('Calls with a rating of a person.'),
    is_complete: z
      .boolean()
      .describe(
        'Whether all rated calls, and all their ratings, were read: false where a limit may have left some out.',
      ),
    raters: z.array(Rater).describe('People and judges, by number of ratings.'),
    types: z
      .array(
        z.object({
          feedback_type: z.string().describe('Type of the ratings.'),
          raters: Total.describe('People who gave them.'),
          calls: Total.describe('Calls that two or more of them rated.'),
          alpha: coefficient.describe("Krippendorff's alpha for labels; null: nothing to compare."),
          interval_alpha: coefficient.describe('The same for numbers; null: they are none.'),
        }),
      )
      .describe('How far all people agree, by type.'),
    pairs: z
      .array(PairAgreement)
      .describe(
        'Each two of the 10 people with most ratings of a type, and people with each judge.',
      ),
  })
  .meta({ id: 'AgreementResponse', description: 'How far raters agree.' })
export type AgreementResponse = z.infer<typeof AgreementResponse>
