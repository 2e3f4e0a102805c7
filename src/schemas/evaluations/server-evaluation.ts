/** Evaluations and scores that the server runs, on the wire: additions to the spec, as the tracing SDKs have them. */
import { z } from 'zod'
import { ClientId, FreeObject, IgnoredUser, ProjectId, refOf } from '../primitives.ts'

/** Limits: scorers of one request, and calls that one request scores. */
export const SCORERS_MAX = 20
const CALLS_MAX = 10_000

const Ref = refOf('object')
const scorer_refs = z
  .array(Ref)
  .min(1, 'must not be empty')
  .max(SCORERS_MAX)
  .describe('Refs of objects that are scorers without code.')

export const EvaluateModelRequest = z
  .strictObject({
    project_id: ProjectId,
    evaluation_ref: Ref.describe('Ref of an evaluation: a data set, scorers and trials.'),
    model_ref: Ref.describe('Ref of a model without code, an LLMStructuredCompletionModel.'),
    svc_user_id: IgnoredUser,
  })
  .meta({ id: 'EvaluateModelRequest', description: 'An evaluation to run.' })

export const EvaluateModelResponse = z.object({
  call_id: z.string().describe('Id of the call that is the run, for its status.'),
})

export const RescoreRequest = z
  .strictObject({
    project_id: ProjectId,
    source_evaluation_run_id: ClientId.describe('The run whose predictions are scored again.'),
    scorer_refs,
    svc_user_id: IgnoredUser,
  })
  .meta({ id: 'RescoreRequest', description: 'A run to score again.' })

export const RescoreResponse = z.object({
  call_id: z.string().describe('Id of the call that is the new run, for its status.'),
  evaluation_run_id: z.string().describe('The same: the id of the new run.'),
})

export const CallsScoreRequest = z
  .strictObject({
    project_id: ProjectId,
    call_ids: z
      .array(ClientId)
      .min(1, 'must not be empty')
      .max(CALLS_MAX)
      .describe('Calls to score; those that are unknown or have not ended fail.'),
    scorer_refs,
    svc_user_id: IgnoredUser,
  })
  .meta({ id: 'CallsScoreRequest', description: 'Calls to score.' })

export const CallsScoreResponse = z.object({
  call_id: z.string().describe('Id of the work, for its status and to cancel it. No call has it.'),
})

export const EvaluationStatusRequest = z
  .strictObject({
    project_id: ProjectId,
    call_id: ClientId.describe('As it was returned when the work began.'),
  })
  .meta({ id: 'EvaluationStatusRequest', description: 'The work that is asked about.' })

const count = z.int().min(0)

export const EvaluationStatusResponse = z
  .object({
    status: z
      .discriminatedUnion('code', [
        z.object({ code: z.literal('not_found').describe('How far it is.') }),
        z.object({
          code: z.literal('running').describe('How far it is.'),
          completed_rows: count.describe('Rows, times their trials, that are done.'),
          total_rows: count.describe('All of them.'),
        }),
        z.object({
          code: z.literal('failed').describe('How far it is.'),
          error: z.string().nullable().describe('Why; `cancelled` when it was cancelled.'),
        }),
        z.object({
          code: z.literal('complete').describe('How far it is.'),
          output: FreeObject.describe('The summary.'),
        }),
      ])
      .describe('How far it is.'),
  })
  .meta({ id: 'EvaluationStatusResponse', description: 'How far an evaluation is.' })
export type EvaluationStatusResponse = z.infer<typeof EvaluationStatusResponse>

export const EvaluationCancelResponse = z.object({
  cancelled: z.boolean().describe('Whether it was running, and is not any more.'),
})
