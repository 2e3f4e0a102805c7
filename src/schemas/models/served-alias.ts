/** Names by which projects serve models, on the wire: additions to the spec. Spec: §4.3 model. */
import { z } from 'zod'
import { ProjectId, Time, Timestamp } from '../primitives.ts'

/** Limits: characters. */
const NAME_CHARS_MAX = 128
const MODEL_CHARS_MAX = 512

const Model = z.string().min(1, 'must not be empty').max(MODEL_CHARS_MAX)

export const AliasPath = z.object({
  name: z
    .string()
    .max(NAME_CHARS_MAX)
    .regex(/^[A-Za-z0-9][\w.-]*$/, 'must consist of letters, digits, _ . and -')
    .describe('Name that requests give as their model.'),
})

export const AliasQuery = z.object({ project_id: ProjectId })

const percent = z
  .number()
  .min(0)
  .max(100)
  .describe('Percent of the end users, or of the conversations where none is named.')

export const AliasSetRequest = z
  .strictObject({
    project_id: ProjectId,
    target: Model.describe('Model that is served, as `owl:step3`.'),
    candidate: z
      .strictObject({ model: Model.describe('Model that gets a share, as `owl:step4`.'), percent })
      .nullish()
      .describe('Model that gets a share of the traffic. Default: none.'),
  })
  .meta({ id: 'AliasSetRequest', description: 'What a name serves.' })

export const AliasRollBackRequest = z
  .strictObject({ project_id: ProjectId })
  .meta({ id: 'AliasRollBackRequest', description: 'The project of the name.' })

export const ServedAliasResponse = z
  .object({
    project_id: z.string().describe('Its project.'),
    name: z.string().describe('Name that requests give as their model.'),
    target: z.string().describe('Model that is served.'),
    candidate: z
      .object({ model: z.string().describe('Model that gets a share.'), percent })
      .nullable()
      .describe('Model that gets a share of the traffic; null: none.'),
    earlier: z.array(z.string()).describe('Earlier targets, the newest first; at most 20.'),
    updated_at: Time.describe('When it was set, UTC.'),
  })
  .meta({ id: 'ServedAliasResponse', description: 'A name that serves a model.' })
export type ServedAliasResponse = z.infer<typeof ServedAliasResponse>

export const AliasListResponse = z
  .object({ aliases: z.array(ServedAliasResponse).describe('By their names.') })
  .meta({ id: 'AliasListResponse', description: 'Names that serve models.' })

export const AliasArmsQuery = z.object({
  project_id: ProjectId,
  since: Timestamp.optional().describe(
    'Only calls from then on. Default: when the name was set last.',
  ),
})

const count = (what: string) => z.int().describe(what)

const AliasArm = z
  .object({
    arm: z.enum(['target', 'candidate']).describe('Which of the two models.'),
    models: z.array(z.string()).describe('Names of the models that responded.'),
    calls: count('Calls.'),
    errors: count('Calls with an exception.'),
    mean_latency_ms: z.number().nullable().describe('Mean of ended calls; null without one.'),
    p95_latency_ms: z.number().nullable().describe('95 of 100 ended calls took at most this.'),
    cost_usd: z.number().nullable().describe('Sum over calls with a price; null without one.'),
    mean_cost_usd: z
      .number()
      .nullable()
      .describe('Mean over calls with a price; null without one.'),
    scores: z
      .array(
        z.object({
          feedback_type: z.string().describe('Type of the feedback.'),
          count: count('Calls with such a score; of several the newest counts, a pass is 1.'),
          users: count('End users, or else conversations or calls, that they are of.'),
          mean: z.number().describe('Mean over calls.'),
        }),
      )
      .describe('By type of feedback.'),
  })
  .meta({ id: 'AliasArm', description: 'Calls, costs and scores of one of the two models.' })
export type AliasArm = z.infer<typeof AliasArm>

const AliasScoreDifference = z
  .object({
    feedback_type: z.string().describe('Type of the feedback.'),
    mean: z.number().describe('Mean of the candidate less that of the target, over end users.'),
    low: z
      .number()
      .nullable()
      .describe('Lower bound of the 95 % interval; null with fewer than 4 end users of an arm.'),
    high: z.number().nullable().describe('Upper bound; null like the lower one.'),
  })
  .meta({ id: 'AliasScoreDifference', description: 'Difference of the scores of one type.' })
export type AliasScoreDifference = z.infer<typeof AliasScoreDifference>

export const AliasArmsResponse = z
  .object({
    since: Time.describe('Start of the first call that may count, UTC.'),
    is_complete: z
      .boolean()
      .describe(
        'Whether all calls count: false when there are more than the newest 10,000, which then count.',
      ),
    arms: z.array(AliasArm).describe('The target, then the candidate.'),
    differences: z
      .array(AliasScoreDifference)
      .describe('Of the scores that both have: the candidate less the target.'),
  })
  .meta({ id: 'AliasArmsResponse', description: 'Both models of a name, side by side.' })

export const AliasDeleteResponse = z
  .object({ deleted: z.boolean().describe('Whether there was such a name.') })
  .meta({ id: 'AliasDeleteResponse', description: 'Whether a name was deleted.' })
