/**
 * Runs of evaluations, predictions and scores on the wire. Each is a call with marks in its attributes.
 *
 * Spec: §2.5, §2.6 (calls; these routes are additions). Choice: the routes and fields of the public tracing clients.
 */
import { z } from 'zod'
import { ClientId, FreeObject, nameOf, ProjectPath, Time } from '../primitives.ts'
import { countedPage } from '../query/page-query.ts'

/** Limit: ids of one request. */
const IDS_MAX = 100
/** Limit: entries of one response; also the default. */
export const EVALUATION_CALLS_LIMIT_MAX = 1000

/** Limit: characters of what names an evaluation, a model or a scorer. */
const NAME_MAX = 2048

/** Ref or free text by which clients name an evaluation, a model or a scorer. */
const Named = nameOf(NAME_MAX)
const id = (what: string) => ClientId.describe(`Id of the ${what}, which is the id of its call.`)
const anything = (what: string) =>
  z
    .unknown()
    .refine((value) => value !== undefined, 'is required')
    .describe(what)

export const RunCreateRequest = z.strictObject({
  evaluation: Named.describe('Ref of the evaluation, or any text that names it.'),
  model: Named.describe('Ref of the model, or any text that names it.'),
  source_evaluation_run_id: ClientId.nullish().describe('The run that this one rescores.'),
})

export const PredictionCreateRequest = z.strictObject({
  model: Named.describe('Ref of the model, or any text that names it.'),
  inputs: FreeObject.describe('Input of the model.'),
  output: anything('Its output.'),
  evaluation_run_id: ClientId.nullish().describe('The run that it belongs to.'),
})

export const ScoreCreateRequest = z.strictObject({
  prediction_id: id('prediction'),
  scorer: Named.describe('Ref of the scorer, or any text that names it.'),
  value: anything('Result of the scorer.'),
  evaluation_run_id: ClientId.nullish().describe('The run that it belongs to.'),
})

export const RunCreateResponse = z.object({ evaluation_run_id: id('run') })
export const PredictionCreateResponse = z.object({ prediction_id: id('prediction') })
export const ScoreCreateResponse = z.object({ score_id: id('score') })

const user = z.string().nullable().describe('User whose key created it.')
const runId = z.string().nullable().describe('The run that it belongs to; null outside of runs.')

export const EvaluationRun = z
  .object({
    evaluation_run_id: id('run'),
    evaluation: z.string().describe('Ref of the evaluation.'),
    model: z.string().describe('Ref of the model.'),
    source_evaluation_run_id: z.string().nullable().describe('The run that it rescores.'),
    status: z.string().describe('`running`, `success` or `error`.'),
    started_at: Time.describe('When it began, UTC.'),
    finished_at: Time.nullable().describe('When it ended; null while it runs.'),
    summary: FreeObject.describe('Its summary.'),
  })
  .meta({ id: 'EvaluationRun', description: 'A run of an evaluation.' })

export const Prediction = z
  .object({
    prediction_id: id('prediction'),
    model: z.string().describe('Ref of the model.'),
    inputs: FreeObject.describe('Input of the model.'),
    output: z.unknown().describe('Its output.'),
    evaluation_run_id: runId,
    svc_user_id: user,
  })
  .meta({ id: 'Prediction', description: 'A prediction of a model.' })

export const Score = z
  .object({
    score_id: id('score'),
    scorer: z.string().describe('Ref of the scorer.'),
    value: z.unknown().describe('Result of the scorer.'),
    evaluation_run_id: runId,
    svc_user_id: user,
  })
  .meta({ id: 'Score', description: 'A score of a prediction.' })

export const RunPath = z.object({ ...ProjectPath.shape, evaluation_run_id: id('run') })
export const PredictionPath = z.object({ ...ProjectPath.shape, prediction_id: id('prediction') })
export const ScorePath = z.object({ ...ProjectPath.shape, score_id: id('score') })

const page = countedPage(EVALUATION_CALLS_LIMIT_MAX)
export const EvaluationCallsQuery = z.strictObject({
  ...page,
  evaluation_run_id: ClientId.optional().describe('Only those of this run.'),
})
const refs = z.union([Named, z.array(Named).max(IDS_MAX)]).optional()
const ids = z.union([ClientId, z.array(ClientId).max(IDS_MAX)])

export const RunsQuery = z.strictObject({
  ...page,
  evaluations: refs.describe('Only runs of these evaluations.'),
  models: refs.describe('Only runs of these models.'),
  evaluation_run_ids: ids.optional().describe('Only these runs.'),
})

const named = (what: string) =>
  ids.describe(`Ids of the ${what} to delete; unknown ones are ignored.`)
export const RunsDeleteQuery = z.strictObject({ evaluation_run_ids: named('runs') })
export const PredictionsDeleteQuery = z.strictObject({ prediction_ids: named('predictions') })
export const ScoresDeleteQuery = z.strictObject({ score_ids: named('scores') })

export const RunFinishRequest = z.strictObject({
  summary: FreeObject.nullish().describe('Summary of the run.'),
})

export const EvaluationFinishResponse = z.object({
  success: z.literal(true).describe('Always true.'),
})

export const EvaluationDeleteResponse = z.object({
  num_deleted: z.int().describe('Number of deleted ones.'),
})
