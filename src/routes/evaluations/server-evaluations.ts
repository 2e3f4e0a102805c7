/** Evaluations and scores that the server runs, over HTTP. Additions to the spec. */
import type { FastifyRequest } from 'fastify'
import { canUseProject, type Principal, requireAccess } from '../../domain/access/permissions.ts'
import { isTrial } from '../../domain/calls/evaluations/evaluation-calls.ts'
import { objectOrEmpty } from '../../domain/json/json-values.ts'
import { parseReadableRef } from '../../domain/objects/readable-ref.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import { createEvaluationRunner } from '../../evaluations/evaluation-runner.ts'
import { readPlan, readScorers } from '../../evaluations/plan.ts'
import { chooseModel } from '../../evaluations/predict.ts'
import { subjectOfRun } from '../../evaluations/rescore.ts'
import { createRunCalls, type RunSubject } from '../../evaluations/run-calls.ts'
import { readTrialIds } from '../../evaluations/scoring.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import * as WIRE from '../../schemas/evaluations/server-evaluation.ts'
import {
  type EvaluationJob,
  type JobWork,
  recordsRun,
} from '../../store/api/evaluations/evaluation-jobs.ts'
import type { Stores } from '../../store/api/stores.ts'
import { readEvaluationCall } from '../calls/evaluation-store.ts'
import type { Inference } from '../chat/inference.ts'
import { createRefReader, pinRef } from '../objects/ref-reader.ts'

const tags = ['calls']

type EvaluationStores = Pick<
  Stores,
  | 'calls'
  | 'callsQuery'
  | 'evaluationJobs'
  | 'feedback'
  | 'keys'
  | 'objects'
  | 'people'
  | 'prices'
  | 'tables'
>

interface ServerEvaluationOptions extends Pick<Clock, 'nowUs'> {
  readonly stores: EvaluationStores
  readonly inference: Inference
  readonly refScheme: string
  /** Whether other processes share the store. */
  readonly isShared: boolean
}

/** What the routes share, and the runner. */
export type ServerEvaluations = ReturnType<typeof createServerEvaluations>

/** Creates the runner, which starts when the app listens, and stops with it. */
export function createServerEvaluations(
  app: App,
  { stores, inference, refScheme, isShared, nowUs }: ServerEvaluationOptions,
) {
  const { objects, tables, prices } = stores
  const { choice, run, scorers } = inference
  const shared = {
    stores,
    tables,
    scorers,
    predicting: { choice, run, prices, newId },
    refScheme,
    nowUs,
    newId,
    onFailure: (error: unknown) => app.log.error({ err: error }, 'an evaluation failed'),
    async readRef(text: string, caller: Principal): Promise<unknown> {
      const ref = parseReadableRef(text)
      if (ref === null) throw new ApiError('object_not_found')
      const canRead = (project_id: string) => canUseProject(caller, project_id)
      return createRefReader({ objects, tables, canRead })(ref)
    },
    pinRef: (text: string) => pinRef(text, objects),
  }
  const runner = createEvaluationRunner({ ...shared, isShared })
  app.addHook('onListen', async () => runner.start())
  app.addHook('onClose', runner.stop)
  return { ...shared, runner }
}

export async function serverEvaluationRoutes(
  app: App,
  { evaluations }: { readonly evaluations: ServerEvaluations },
): Promise<void> {
  addEvaluate(app, evaluations)
  addRescore(app, evaluations)
  addScore(app, evaluations)
  addStatus(app, evaluations)
  addCancel(app, evaluations)
}

function addEvaluate(app: App, evaluations: ServerEvaluations): void {
  app.post(
    '/evaluations/evaluate_model',
    {
      schema: {
        tags,
        operationId: 'evaluateModel',
        summary: 'Run an evaluation of a model on the server (addition to the spec).',
        description:
          'The model is an LLMStructuredCompletionModel, scorers are rules, judges, webhooks or LLMAsAJudgeScorers. The run is recorded as `Evaluation` of the SDKs does, and is resumed after a restart.',
        body: WIRE.EvaluateModelRequest,
        response: { 200: WIRE.EvaluateModelResponse },
      },
    },
    async (request) => {
      const { project_id } = request.body
      const caller = requireRunner(request, project_id)
      const asker = { caller, project_id }
      const evaluation_ref = await evaluations.pinRef(request.body.evaluation_ref)
      const model_ref = await evaluations.pinRef(request.body.model_ref)
      const plan = await readPlan({ evaluation_ref, model_ref }, asker, evaluations)
      await chooseModel(plan.model, asker, evaluations.predicting)
      const total_rows = plan.rows.length * plan.trials
      const work = { kind: 'evaluate', evaluation_ref, model_ref } as const
      const { evaluate: op_name } = plan.ops
      const subject = { op_name, evaluation: evaluation_ref, model: model_ref }
      return {
        call_id: await beginJob(evaluations, { work, total_rows, project_id, caller, subject }),
      }
    },
  )
}

function addRescore(app: App, evaluations: ServerEvaluations): void {
  const { stores } = evaluations
  app.post(
    '/evaluations/rescore',
    {
      schema: {
        tags,
        operationId: 'rescoreEvaluation',
        summary: 'Score the predictions of a run again, as a new run (addition to the spec).',
        body: WIRE.RescoreRequest,
        response: { 200: WIRE.RescoreResponse },
      },
    },
    async (request, reply) => {
      const { project_id, source_evaluation_run_id: id } = request.body
      const caller = requireRunner(request, project_id)
      const named = {
        project_id,
        id,
        kind: 'evaluation_run',
        param: 'source_evaluation_run_id',
      } as const
      const { call } = await readEvaluationCall(stores.calls, named)
      const scorer_refs = await readScorerRefs(request.body, caller, evaluations)
      const reader = openReadCaller(request, reply, project_id)
      const { length: total_rows } = await readTrialIds(id, reader, evaluations)
      const work = { kind: 'rescore', source_run_id: id, scorer_refs } as const
      const subject = { ...subjectOfRun(call), source_run_id: id }
      const call_id = await beginJob(evaluations, { work, total_rows, project_id, caller, subject })
      return { call_id, evaluation_run_id: call_id }
    },
  )
}

function addScore(app: App, evaluations: ServerEvaluations): void {
  app.post(
    '/calls/score',
    {
      schema: {
        tags,
        operationId: 'scoreCalls',
        summary: 'Score calls in the background, as feedback about them (addition to the spec).',
        body: WIRE.CallsScoreRequest,
        response: { 200: WIRE.CallsScoreResponse },
      },
    },
    async (request) => {
      const { project_id } = request.body
      const caller = requireRunner(request, project_id)
      const scorer_refs = await readScorerRefs(request.body, caller, evaluations)
      const call_ids = [...new Set(request.body.call_ids)]
      const work = { kind: 'score', call_ids, scorer_refs } as const
      const begun = { work, total_rows: call_ids.length, project_id, caller }
      return { call_id: await beginJob(evaluations, begun) }
    },
  )
}

/** Checks the scorers of a request. @returns the refs of their versions */
async function readScorerRefs(
  { project_id, scorer_refs: refs }: { readonly project_id: string; scorer_refs: string[] },
  caller: Principal,
  evaluations: ServerEvaluations,
): Promise<string[]> {
  const scorers = await readScorers(refs, { caller, project_id }, evaluations, 'scorer_refs')
  return scorers.map(({ ref }) => ref)
}

interface Begun {
  readonly work: JobWork
  readonly total_rows: number
  readonly project_id: string
  readonly caller: Principal
  /** Of the run that is recorded. Default: none is. */
  readonly subject?: RunSubject
}

/** Stores the job, starts its run, and wakes the runner. @returns the id of both */
export async function beginJob(
  evaluations: ServerEvaluations,
  { work, total_rows, project_id, caller, subject }: Begun,
): Promise<string> {
  const { stores, nowUs, runner } = evaluations
  const { grants: _grants, ...principal } = caller
  const job: EvaluationJob = {
    id: newId(),
    project_id,
    work,
    principal: { ...principal, scopes: ['inference', 'traces:read'], projects: [project_id] },
    created_at_us: nowUs(),
    state: 'running',
    completed_rows: 0,
    total_rows,
    attempts: 0,
    error: null,
    output_json: null,
  }
  await stores.evaluationJobs.createJob(job)
  if (subject !== undefined) await createRunCalls(job, evaluations).startRun(subject)
  runner.wake()
  return job.id
}

function addStatus(app: App, { stores }: ServerEvaluations): void {
  app.post(
    '/evaluations/status',
    {
      schema: {
        tags,
        operationId: 'getEvaluationStatus',
        summary: 'Report how far an evaluation or scoring on the server is (addition to the spec).',
        body: WIRE.EvaluationStatusRequest,
        response: { 200: WIRE.EvaluationStatusResponse },
      },
    },
    async (request) => {
      const { project_id, call_id } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const job = await stores.evaluationJobs.findJob(project_id, call_id)
      if (job !== null) return { status: statusOfJob(job) }
      const call = await stores.calls.findCall(project_id, call_id)
      if (call === null || call.ended_at_us === null || isTrial(call)) {
        return { status: { code: 'not_found' as const } }
      }
      const { exception, output } = call
      return exception === null
        ? { status: { code: 'complete' as const, output: { ...objectOrEmpty(output) } } }
        : { status: { code: 'failed' as const, error: exception } }
    },
  )
}

function statusOfJob({ state, error, output_json, completed_rows, total_rows }: EvaluationJob) {
  if (state === 'running') return { code: 'running' as const, completed_rows, total_rows }
  if (state !== 'complete') return { code: 'failed' as const, error }
  return { code: 'complete' as const, output: JSON.parse(output_json ?? '{}') }
}

function addCancel(app: App, evaluations: ServerEvaluations): void {
  const { stores } = evaluations
  app.post(
    '/evaluations/cancel',
    {
      schema: {
        tags,
        operationId: 'cancelEvaluation',
        summary: 'Cancel an evaluation or scoring on the server (addition to the spec).',
        description: 'What is scored stays. Requests to models that run end within five seconds.',
        body: WIRE.EvaluationStatusRequest,
        response: { 200: WIRE.EvaluationCancelResponse },
      },
    },
    async (request) => {
      const { project_id, call_id } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      const job = await stores.evaluationJobs.findJob(project_id, call_id)
      if (job?.state !== 'running') return { cancelled: false }
      // The run ends first: where the process ends in between, a repeated request finds the job running.
      if (recordsRun(job.work)) {
        await createRunCalls(job, evaluations).endRun(null, 'cancelled')
      }
      return { cancelled: await stores.evaluationJobs.cancelJob(project_id, call_id) }
    },
  )
}

/** Who runs something writes traces, reads objects, and pays for requests to models. */
export function requireRunner({ principal }: FastifyRequest, project_id: string): Principal {
  requireAccess(principal, 'traces:write', project_id)
  requireAccess(principal, 'traces:read', project_id)
  return requireAccess(principal, 'inference', project_id)
}
