/** Reads and writes the calls of evaluation runs, predictions and scores. */

import type { z } from 'zod'
import type { Principal } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { StoredCall } from '../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import {
  createRunOutput,
  EVALUATION_OPS,
  type EvaluationCall,
  type EvaluationCallKind,
  isEvaluationCall,
  isOfKind,
  isTrial,
  marksOf,
  PREDICT_AND_SCORE_OP,
  parseCall,
  predictAndScoreOutput,
  predictionInputs,
  requireEvaluationCall,
  scorerNameOf,
} from '../../domain/calls/evaluations/evaluation-calls.ts'
import { type CallParts, resolveCallEnd, resolveCallStart } from '../../domain/calls/new-call.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../http/new-id.ts'
import type { CallsFilter } from '../../schemas/calls/calls-filter.ts'
import type {
  PredictionCreateRequest,
  RunCreateRequest,
  ScoreCreateRequest,
} from '../../schemas/calls/evaluation-calls.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { CallStore } from '../../store/api/calls/calls.ts'
import type { Stores } from '../../store/api/stores.ts'

export interface EvaluationCallOptions
  extends Pick<Stores, 'audit' | 'calls' | 'callsQuery' | 'feedback'>,
    Pick<Clock, 'nowUs'> {
  /** Scheme of the refs that are extracted from inputs and outputs. */
  readonly refScheme: string
}

interface NewPart {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly op_name: string
  readonly attributes: JsonObject
  readonly inputs: JsonObject
}

/** Reads calls of one project. */
export function createEvaluationReader(
  { callsQuery }: Pick<EvaluationCallOptions, 'callsQuery'>,
  caller: ReadCaller,
) {
  const { project_id } = caller
  const shape = resolveCallsShape({ project_id })
  return async function* readCalls(filter: CallsFilter): AsyncGenerator<StoredCall> {
    const selection = resolveCallsSelection({ project_id, filter })
    for await (const listed of callsQuery.pages(selection, shape, caller)) {
      for (const { call } of listed) yield parseCall(call)
    }
  }
}

interface Who {
  readonly project_id: string
  readonly user: Principal
}

/** Returns what the writer and the finisher share. */
function createParts({ calls, refScheme }: EvaluationCallOptions, { project_id, user }: Who) {
  const { svc_user_id, svc_username } = user

  function startOf({ id, trace_id, ...part }: NewPart, atUs: number) {
    const started_at = renderTimestamp(atUs)
    const start = { project_id, id, trace_id, ...part, started_at }
    return resolveCallStart(start, { id, trace_id, svc_user_id, svc_username }, refScheme)
  }

  function endOf(id: string, output: unknown, summary: object, atUs: number) {
    const ended_at = renderTimestamp(atUs)
    const end = { project_id, id, ended_at, output, summary: summary as Record<string, unknown> }
    return resolveCallEnd(end, refScheme)
  }

  async function write(parts: readonly CallParts[]): Promise<void> {
    for (const { error } of await calls.writeParts(parts)) if (error) throw error
  }

  /** Reads a call that the routes recorded. */
  async function requireOwn(id: string, kind: EvaluationCallKind, param: string) {
    return requireEvaluationCall(await calls.findCall(project_id, id), kind, param)
  }

  /** Reads a call that the routes or the SDKs recorded. */
  async function requireCall(id: string, kind: EvaluationCallKind, param: string) {
    return (await readEvaluationCall(calls, { project_id, id, kind, param })).call
  }

  return { startOf, endOf, write, requireOwn, requireCall }
}

interface EvaluationCallName {
  readonly project_id: string
  readonly id: string
  readonly kind: EvaluationCallKind
  /** Path of the field with the id, for the error. */
  readonly param: string
}

/** Reads a call of a kind, whether the routes or the SDKs recorded it. @throws ApiError call_not_found */
export async function readEvaluationCall(
  calls: Pick<CallStore, 'findCall'>,
  { project_id, id, kind, param }: EvaluationCallName,
): Promise<EvaluationCall> {
  const call = await calls.findCall(project_id, id)
  if (call === null) throw new ApiError('call_not_found', { param })
  const isKnown = call.parent_id === null || isEvaluationCall(call, kind)
  const above = isKnown ? null : await calls.findCall(project_id, call.parent_id ?? '')
  if (!isOfKind({ call, above }, kind)) throw new ApiError('call_not_found', { param })
  return { call, above }
}

/** Records new calls of one project in the name of a user. */
export function createEvaluationWriter(options: EvaluationCallOptions, who: Who) {
  const { nowUs } = options
  const { startOf, endOf, write, requireCall } = createParts(options, who)
  return {
    async createRun(body: z.infer<typeof RunCreateRequest>): Promise<string> {
      const id = newId()
      const { evaluation, model, source_evaluation_run_id } = body
      const source = source_evaluation_run_id ? { source_evaluation_run_id } : {}
      const part = {
        id,
        trace_id: id,
        parent_id: null,
        op_name: EVALUATION_OPS.evaluation_run,
        attributes: marksOf('evaluation_run', { evaluation, model, ...source }),
        inputs: { self: evaluation, model },
      }
      await write([{ start: startOf(part, nowUs()), end: null }])
      return id
    },
    async createPrediction(body: z.infer<typeof PredictionCreateRequest>): Promise<string> {
      const [id, above, atUs] = [newId(), newId(), nowUs()]
      const { model, inputs, output, evaluation_run_id: run_id } = body
      const run = run_id ? await requireCall(run_id, 'evaluation_run', 'evaluation_run_id') : null
      const trace_id = run?.trace_id ?? id
      const part = {
        id,
        trace_id,
        parent_id: run && above,
        op_name: EVALUATION_OPS.prediction,
        attributes: marksOf('prediction', { model, ...(run ? { evaluation_run_id: run.id } : {}) }),
        inputs: { self: model, inputs },
      }
      const around = run && {
        id: above,
        trace_id,
        parent_id: run.id,
        op_name: PREDICT_AND_SCORE_OP,
        attributes: { weave: { predict_call_id: id } },
        inputs: { self: run.inputs.self ?? null, model, example: inputs },
      }
      const open = around ? [{ start: startOf(around, atUs), end: null }] : []
      await write([...open, { start: startOf(part, atUs), end: endOf(id, output, {}, atUs) }])
      return id
    },
    async createScore(body: z.infer<typeof ScoreCreateRequest>): Promise<string> {
      const [id, atUs] = [newId(), nowUs()]
      const { prediction_id, scorer, value, evaluation_run_id: run_id } = body
      const prediction = await requireCall(prediction_id, 'prediction', 'prediction_id')
      const run = run_id ? await requireCall(run_id, 'evaluation_run', 'evaluation_run_id') : null
      const about = { scorer, prediction_id, ...(run ? { evaluation_run_id: run.id } : {}) }
      const part = {
        id,
        trace_id: run?.trace_id ?? id,
        op_name: EVALUATION_OPS.score,
        parent_id: run && (prediction.parent_id ?? run.id),
        attributes: marksOf('score', about),
        inputs: {
          self: scorer,
          inputs: predictionInputs(prediction),
          output: prediction.output,
        },
      }
      await write([{ start: startOf(part, atUs), end: endOf(id, value, {}, atUs) }])
      return id
    },
  }
}

/** The trace of a run, which has the id of the run where the routes recorded it, and any where an SDK did. */
export async function findTraceOfRun(
  calls: Pick<CallStore, 'findCall'>,
  project_id: string,
  run_id: string,
): Promise<string> {
  return (await calls.findCall(project_id, run_id))?.trace_id ?? run_id
}

/** Finds the parent call of a prediction and its scores in a run; null outside of runs. */
export async function findTrial(
  calls: Pick<CallStore, 'findCall'>,
  { project_id, parent_id }: StoredCall,
): Promise<StoredCall | null> {
  const above = parent_id === null ? null : await calls.findCall(project_id, parent_id)
  return above !== null && isTrial(above) ? above : null
}

/** Ends calls of one project. */
export function createEvaluationFinisher(
  options: EvaluationCallOptions,
  who: Who,
  caller: ReadCaller,
) {
  const { calls, nowUs } = options
  const readCalls = createEvaluationReader(options, caller)
  const { endOf, requireOwn } = createParts(options, who)

  /** Ends a call; no effect when another request was faster. */
  async function endOnce(end: ReturnType<typeof endOf>): Promise<void> {
    try {
      await calls.endCall(end)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'call_conflict') throw error
    }
  }

  return {
    /** Ends the parent call of a prediction; no effect when it has ended. */
    async finishPrediction(id: string) {
      const prediction = await requireOwn(id, 'prediction', 'prediction_id')
      const above = await findTrial(calls, prediction)
      if (above === null || above.ended_at_us !== null) return
      // Only the values of scores are read: a prediction may have any number of scores.
      const scores = new Map<string, unknown>()
      for await (const call of readCalls({ parent_ids: [above.id] })) {
        if (isEvaluationCall(call, 'score')) scores.set(scorerNameOf(call), call.output)
      }
      const output = predictAndScoreOutput(prediction, scores)
      await endOnce(endOf(above.id, output, {}, nowUs()))
    },
    /** Ends a run with the means over its predictions; no effect when it has ended. */
    async finishRun(id: string, summary: object) {
      const run = await requireOwn(id, 'evaluation_run', 'evaluation_run_id')
      if (run.ended_at_us !== null) return
      const means = createRunOutput()
      for await (const call of readCalls({ parent_ids: [id], op_names: [PREDICT_AND_SCORE_OP] })) {
        means.add(call.output)
      }
      await endOnce(endOf(id, means.output(), summary, nowUs()))
    },
  }
}
