/** Trials of a judge's draft on calls that people have rated. Additions to the spec. */
import { z } from 'zod'
import { PairAgreement, ratingFields } from '../feedback/agreement.ts'
import { ProjectId, Total } from '../primitives.ts'
import { JudgeScorer } from './scorer.ts'

/** Limits: calls of a trial, dollars. */
const CALLS_MAX = 200
const USD_MAX = 1_000_000

export const JudgeTrialRequest = z
  .strictObject({
    project_id: ProjectId,
    scorer: JudgeScorer.describe('The draft.'),
    ...ratingFields,
    limit: z
      .int()
      .min(1)
      .max(CALLS_MAX)
      .nullish()
      .describe('Calls that are scored, those rated last. Default: 50.'),
    max_usd: z
      .number()
      .min(0)
      .max(USD_MAX)
      .nullish()
      .describe('No further call is scored once so much is spent. Default: no limit.'),
  })
  .meta({
    id: 'JudgeTrialRequest',
    description: 'A draft of a judge, and whose ratings to try it on.',
  })
export type JudgeTrialRequest = z.infer<typeof JudgeTrialRequest>

export const JudgeTrialEstimate = z
  .object({
    calls: Total.describe('Rated calls that would be scored.'),
    missing: Total.describe(
      'Those without a score of the current version, which is asked for, too.',
    ),
    cost_usd: z
      .number()
      .nullable()
      .describe(
        'US dollars for all of them, at most; null: a model has no price, or no call is rated.',
      ),
  })
  .meta({ id: 'JudgeTrialEstimate', description: 'What a trial is expected to take.' })
export type JudgeTrialEstimate = z.infer<typeof JudgeTrialEstimate>

const Value = z.union([z.boolean(), z.number(), z.string()]).nullable()

export const JudgeTrialLine = z
  .object({
    call: z
      .object({
        call_id: z.string().describe('The call.'),
        people: Value.describe('What most people say of it.'),
        draft: Value.describe('Score of the draft; null: it failed.'),
        current: Value.describe('Score of the current version; null: it failed.'),
        error: z.string().nullable().describe('Why a score is missing; null: none is.'),
      })
      .nullable()
      .describe('A call that was scored; null in the last line.'),
    result: z
      .object({
        draft: PairAgreement.describe('People and the draft.'),
        current: PairAgreement.describe('People and the current version.'),
        cost_usd: z.number().describe('US dollars that were spent.'),
        failed: Total.describe('Calls without both scores, which are not compared.'),
      })
      .nullable()
      .describe('The comparison, on the calls that both versions scored, in the last line.'),
  })
  .meta({ id: 'JudgeTrialLine', description: 'A line of a trial.' })
export type JudgeTrialLine = z.infer<typeof JudgeTrialLine>
