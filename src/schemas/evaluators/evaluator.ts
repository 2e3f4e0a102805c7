/** Evaluators on the wire. Additions to the spec. */
import { z } from 'zod'
import { CallsFilter } from '../calls/calls-filter.ts'
import { FreeObject, ProjectId, refOf, Time, Timestamp, Total } from '../primitives.ts'
import { Query } from '../query/query-expression.ts'
import { Scorer } from './scorer.ts'

/** Limits: characters, seconds, scores at once, dollars. */
const NAME_MAX = 128
const DESCRIPTION_MAX = 10_000
const REST_S_MAX = 86_400
const CONCURRENCY_MAX = 64
const USD_MAX = 1_000_000

const EvaluatorName = z
  .string()
  .max(NAME_MAX)
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'must consist of letters, digits, _ . and -')

const fields = {
  description: z.string().max(DESCRIPTION_MAX).default('').describe('What it is for.'),
  filter: CallsFilter.nullish().describe('Which calls; all when absent.'),
  query: Query.nullish().describe('A further condition on the calls.'),
  sampling: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of the traces, chosen by a hash of the trace id: the same ones each time.'),
  target: z
    .enum(['call', 'trace', 'conversation'])
    .default('call')
    .describe(
      'What is scored: each call, or a whole trace or conversation once it rests. Of these the condition is on the root call, and on the last call of turns.',
    ),
  rest_seconds: z
    .int()
    .min(1)
    .max(REST_S_MAX)
    .default(30)
    .describe('Time without a new call after which a trace or conversation rests.'),
  scorer: Scorer,
  concurrency: z.int().min(1).max(CONCURRENCY_MAX).default(4).describe('Scores at once, at most.'),
  max_usd_per_day: z
    .number()
    .min(0)
    .max(USD_MAX)
    .nullish()
    .describe(
      'US dollars that its judge may cost in a day in UTC; what runs may pass it. Default: no limit.',
    ),
}

/** What an evaluator does: what its versions differ in. */
export const EvaluatorDefinition = z.strictObject(fields)
export type EvaluatorDefinition = z.infer<typeof EvaluatorDefinition>

/** As in requests, where what is absent has its default. */
const shown = {
  description: fields.description.unwrap().describe('As in requests.'),
  filter: fields.filter,
  query: fields.query,
  sampling: fields.sampling.unwrap().describe('As in requests.'),
  target: fields.target.unwrap().describe('As in requests.'),
  rest_seconds: fields.rest_seconds.unwrap().describe('As in requests.'),
  scorer: FreeObject.describe('What makes the score: a Scorer as in requests.'),
  concurrency: fields.concurrency.unwrap().describe('As in requests.'),
  max_usd_per_day: fields.max_usd_per_day,
}

const state = z.enum(['active', 'paused']).describe('A paused evaluator queues no calls.')

export const EvaluatorCreateRequest = z
  .strictObject({
    project_id: ProjectId,
    name: EvaluatorName.describe('Unique in the project; results are `wandb.runnable.<name>`.'),
    state: state.default('active').describe('A paused evaluator queues no calls.'),
    ...fields,
  })
  .meta({ id: 'EvaluatorCreateRequest', description: 'An evaluator to create.' })
export type EvaluatorCreateRequest = z.infer<typeof EvaluatorCreateRequest>

export const EvaluatorUpdateRequest = z.strictObject({ project_id: ProjectId, ...fields }).meta({
  id: 'EvaluatorUpdateRequest',
  description: 'The whole definition. One that differs becomes the next version.',
})

export const MonitorRequest = z
  .strictObject({
    project_id: ProjectId,
    monitor_ref: refOf('object').describe('Ref of a published Monitor of calls.'),
  })
  .meta({ id: 'MonitorRequest', description: 'A monitor to run.' })

export const EvaluatorPath = z.object({
  evaluator_id: z.string().max(128).describe('Id of the evaluator.'),
})

export type EvaluatorPath = z.infer<typeof EvaluatorPath>

const window = {
  from: Timestamp.nullish().describe('Calls that began at or after this time. Default: all.'),
  until: Timestamp.nullish().describe('Calls that began before this time. Default: now.'),
}

export const BackfillRequest = z
  .strictObject({ project_id: ProjectId, ...window })
  .meta({ id: 'BackfillRequest', description: 'Which old calls to score.' })
export type BackfillRequest = z.infer<typeof BackfillRequest>

export const BackfillStateRequest = z
  .strictObject({
    project_id: ProjectId,
    state: z.enum(['running', 'paused', 'cancelled']).describe('What it becomes.'),
  })
  .meta({ id: 'BackfillStateRequest', description: 'Pause, go on with or end a backfill.' })

export const BackfillEstimateResponse = z
  .object({
    calls: Total.describe(
      'Calls, traces or conversations that meet the condition, before sampling.',
    ),
    sampled: Total.describe('Those of them that are expected to be scored, by the share.'),
    cost_usd: z
      .number()
      .nullable()
      .describe('US dollars for all of them; null: the model has no price, or nothing matches.'),
    basis: z
      .enum(['none', 'history', 'prompts'])
      .describe(
        'Where it comes from: nothing costs anything, mean cost of past scores, or prompts of some of these calls.',
      ),
  })
  .meta({ id: 'BackfillEstimateResponse', description: 'What a backfill is expected to take.' })

export type BackfillEstimateResponse = z.infer<typeof BackfillEstimateResponse>

const Backfill = z
  .object({
    state: z.enum(['running', 'paused', 'done']).describe('Whether it goes on.'),
    from: Time.nullable().describe('Begin of the window; null: none.'),
    until: Time.describe('End of the window, exclusive.'),
    expected: Total.describe('Subjects that it expected to queue.'),
    queued: Total.describe('Subjects that are queued so far.'),
  })
  .meta({ id: 'Backfill', description: 'The scoring of old calls.' })

export const EvaluatorResponse = z
  .object({
    id: z.string().describe('Id of the evaluator.'),
    project_id: z.string().describe('Its project.'),
    name: z.string().describe('Its name.'),
    version: z.int().describe('Its version, from 1.'),
    ref: z.string().describe('Ref of the version, which results have as `runnable_ref`.'),
    monitor_ref: z.string().nullable().describe('The published monitor that it runs; null: none.'),
    state,
    ...shown,
    scored: Total.describe('Scores that were stored.'),
    failed: Total.describe('Subjects that have no score, as their scorer failed.'),
    dropped: Total.describe('Subjects that were not queued, as too many waited.'),
    waiting: Total.describe('Subjects that wait or are being scored.'),
    spent_usd: z.number().describe('US dollars of its judge, in all.'),
    spent_today_usd: z.number().describe('The same of this day in UTC.'),
    retry_at: Time.nullable().describe('Until when it rests after failures; null: it does not.'),
    last_error: z.string().nullable().describe('The last failure; null: none.'),
    backfill: Backfill.nullable().describe('The last scoring of old calls; null: none.'),
    svc_user_id: z.string().describe('Who pays for its judges: who changed it last.'),
    created_at: Time.describe('When it was created, UTC.'),
    updated_at: Time.describe('When it was changed last, UTC.'),
  })
  .meta({ id: 'EvaluatorResponse', description: 'An evaluator and what it has done.' })
export type EvaluatorResponse = z.infer<typeof EvaluatorResponse>

export const EvaluatorListResponse = z.object({
  evaluators: z.array(EvaluatorResponse).describe('By name.'),
})

export const EvaluatorVersionsResponse = z.object({
  versions: z
    .array(
      z.object({
        version: z.int().describe('From 1.'),
        ref: z.string().describe('Its ref.'),
        definition: z.object(shown).describe('What it does.'),
        svc_user_id: z.string().describe('Who made it.'),
        created_at: Time.describe('When, UTC.'),
      }),
    )
    .describe('The newest first.'),
})

export const EvaluatorDeleteResponse = z.object({
  id: z.string().describe('Id of the evaluator.'),
  deleted: z.literal(true).describe('Always true.'),
})
