/** What all kinds of jobs share: rows at once, scores of a subject, and what earlier attempts have done. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Principal } from '../domain/access/permissions.ts'
import type { ReadCaller } from '../domain/access/read-caller.ts'
import type { StoredCall } from '../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../domain/calls/calls-query.ts'
import { isTrial, parseCall } from '../domain/calls/evaluations/evaluation-calls.ts'
import type { ScoredSubject } from '../domain/evaluators/score.ts'
import { isObject } from '../domain/json/is-object.ts'
import { objectOrEmpty, textOrEmpty } from '../domain/json/json-values.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import type { Scorers } from '../inference/scorers/scorers.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import type { EvaluationJob, JobWork } from '../store/api/evaluations/evaluation-jobs.ts'
import type { Stores } from '../store/api/stores.ts'
import type { NamedScorer, PlanOptions } from './plan.ts'
import type { PredictOptions } from './predict.ts'
import type { RunCalls, ScorerResult } from './run-calls.ts'

/** Limits: rows of a job at once, and attempts of a request that a model cannot take now. */
const ROWS_AT_ONCE = 4
const ATTEMPTS_MAX = 5
const RETRY_MS = 250
const PASSING_CODES: readonly ErrorCode[] = [
  'rate_limit_exceeded',
  'server_overloaded',
  'upstream_error',
  'upstream_overloaded',
  'upstream_rate_limited',
  'upstream_timeout',
  'upstream_unreachable',
  'webhook_failed',
]

export interface JobRunOptions {
  readonly stores: Pick<Stores, 'calls' | 'callsQuery' | 'feedback' | 'prices' | 'tables'>
  readonly predicting: PredictOptions
  readonly scorers: Pick<Scorers, 'score' | 'requireUsable'>
  readonly readRef: PlanOptions['readRef']
  readonly pinRef: PlanOptions['pinRef']
  readonly refScheme: string
  readonly nowUs: () => number
  readonly newId: () => string
  /** Called for errors that are a fault of the server. */
  readonly onFailure: (error: unknown) => void
}

export interface JobContext {
  readonly job: EvaluationJob
  /** Who pays, with today's rights. */
  readonly caller: Principal
  readonly calls: RunCalls
  readonly signal: AbortSignal
  readonly onRow: () => void
}

export type WorkOf<Kind extends JobWork['kind']> = Extract<JobWork, { kind: Kind }>

/** A prediction that is to be scored in a trial. */
export interface Predicted {
  readonly trial_id: string
  readonly prediction_id: string
  readonly output: unknown
  readonly subject: ScoredSubject
}

/** Finds a trial that an earlier attempt has written; a first attempt has none. */
export async function findDone(
  id: string,
  { job }: JobContext,
  { stores }: JobRunOptions,
): Promise<StoredCall | null> {
  if (job.attempts === 1) return null
  return stores.calls.findCall(job.project_id, id)
}

/** Stores the feedback of a trial whose process may have ended before. */
export async function restoreFeedback(
  { id, output, attributes, started_at_us }: StoredCall,
  scorers: readonly NamedScorer[],
  calls: RunCalls,
): Promise<void> {
  const prediction_id = textOrEmpty(objectOrEmpty(attributes.weave).predict_call_id)
  const scores = objectOrEmpty(objectOrEmpty(output).scores)
  const results = scorers.flatMap((scorer) => {
    const score = scores[scorer.name]
    if (!isObject(score) || Object.keys(score).length === 0) return []
    const times = { started_at_us, ended_at_us: started_at_us }
    return [{ scorer, output: score as JsonObject, exception: null, ...times }]
  })
  await storeScores(results, { trial_id: id, prediction_id }, calls)
}

/** Scores one subject with all scorers at once. */
export function scoreAll(
  scorers: readonly NamedScorer[],
  { subject, prediction_id }: Pick<Predicted, 'subject' | 'prediction_id'>,
  { job, caller, signal }: JobContext,
  options: JobRunOptions,
): Promise<ScorerResult[]> {
  return Promise.all(
    scorers.map(async (scorer) => {
      const started_at_us = options.nowUs()
      const attributes = {
        scorer: scorer.ref,
        evaluation_run_id: job.id,
        scored_call_id: prediction_id,
      }
      const about = { project_id: job.project_id, caller, attributes, signal }
      const made = await settle(
        () => options.scorers.score(scorer.scorer, subject, about),
        signal,
        options.onFailure,
      )
      const times = { started_at_us, ended_at_us: options.nowUs() }
      return { scorer, output: made.value?.output ?? null, exception: made.exception, ...times }
    }),
  )
}

export function toScoreCalls(
  results: readonly ScorerResult[],
  { trial_id, ...about }: Predicted,
  calls: RunCalls,
) {
  const { prediction_id, output, subject } = about
  const inputs = (isObject(subject.inputs) ? subject.inputs : {}) as JsonObject
  const named = { parent_id: trial_id, prediction_id, inputs, output }
  return results.map((result) => calls.toScoreCall(result, named))
}

export function storeScores(
  results: readonly ScorerResult[],
  { trial_id, prediction_id }: Pick<Predicted, 'trial_id' | 'prediction_id'>,
  calls: RunCalls,
): Promise<void> {
  const named = results.map((result) => ({
    ...result,
    call_id: calls.scoreIdOf(trial_id, result.scorer),
  }))
  return calls.storeFeedback(prediction_id, named)
}

/** As the SDKs write it: a scorer without a score has an empty one. */
export function toTrialOutput(
  output: unknown,
  scorers: readonly NamedScorer[],
  results: readonly ScorerResult[],
  seconds: number | null,
) {
  const scores = scorers.map(({ name }) => {
    const found = results.find(({ scorer }) => scorer.name === name)
    return [name, found?.output ?? {}] as const
  })
  return { output, scores: Object.fromEntries(scores), model_latency: seconds }
}

/** Reads calls of the project. */
export async function* readCalls(
  filter: { readonly parent_ids: string[] },
  { job, caller, signal }: JobContext,
  { stores }: JobRunOptions,
): AsyncGenerator<StoredCall> {
  const { project_id } = job
  const selection = resolveCallsSelection({ project_id, filter })
  const shape = resolveCallsShape({ project_id })
  const reader = { keyId: caller.keyId, project_id, signal }
  for await (const page of stores.callsQuery.pages(selection, shape, reader)) {
    for (const { call } of page) yield parseCall(call)
  }
}

/** Reads the ids of the trials of a run, without their bodies. */
export async function readTrialIds(
  run_id: string,
  reader: ReadCaller,
  { stores }: { readonly stores: Pick<Stores, 'callsQuery'> },
): Promise<readonly string[]> {
  const { project_id } = reader
  const selection = resolveCallsSelection({ project_id, filter: { parent_ids: [run_id] } })
  const shape = resolveCallsShape({ project_id, columns: ['op_name'] })
  const ids: string[] = []
  for await (const page of stores.callsQuery.pages(selection, shape, reader)) {
    ids.push(...page.filter(({ call }) => isTrial(call)).map(({ call }) => call.id))
  }
  return ids
}

/** Runs work for each index, some of it at once. After an error none begins, and the first is thrown once those that run have ended. */
export async function forEach(
  total: number,
  signal: AbortSignal,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const errors: unknown[] = []
  const run = async () => {
    while (next < total && errors.length === 0) {
      try {
        signal.throwIfAborted()
        next += 1
        await work(next - 1)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: ROWS_AT_ONCE }, run))
  if (errors.length > 0) throw errors[0]
}

/** Waits for work, again while a model cannot take it now. @throws ApiError store_unavailable; the reason of the signal */
export async function settle<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<{ readonly value: T | null; readonly exception: string | null }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return { value: await work(), exception: null }
    } catch (error) {
      signal.throwIfAborted()
      const failure = error instanceof ApiError ? error : new ApiError('internal_error')
      if (failure !== error) onFailure(error)
      const { code, message } = failure
      if (code === 'store_unavailable') throw failure
      if (!PASSING_CODES.includes(code) || attempt === ATTEMPTS_MAX) {
        return { value: null, exception: `${code}: ${message}` }
      }
      await sleep(RETRY_MS * 2 ** attempt, undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
  }
}

export function planOptions({ stores, scorers, readRef, pinRef }: JobRunOptions): PlanOptions {
  return { tables: stores.tables, scorers, readRef, pinRef }
}
