/** The calls and feedback that an evaluation on the server records, as `Evaluation` of the SDKs does. */
import type { Principal } from '../domain/access/permissions.ts'
import { callRef } from '../domain/calls/call-ref.ts'
import { marksOf } from '../domain/calls/evaluations/evaluation-calls.ts'
import { type CallParts, resolveTimedEnd, resolveTimedStart } from '../domain/calls/new-call.ts'
import { resolveFeedback } from '../domain/feedback/new-feedback.ts'
import { hashedUuid } from '../domain/objects/hashed-uuid.ts'
import { ApiError } from '../errors.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import type { EvaluationJob } from '../store/api/evaluations/evaluation-jobs.ts'
import type { Stores } from '../store/api/stores.ts'
import type { NamedScorer } from './plan.ts'

/** Limit: bytes of the output of a score. */
const PAYLOAD_BYTES_MAX = 1024 * 1024

interface RunCallOptions {
  readonly stores: Pick<Stores, 'calls' | 'feedback'>
  readonly refScheme: string
  readonly nowUs: () => number
}

/** A call that has ended. Times in microseconds. */
interface EndedCall {
  readonly id: string
  readonly parent_id: string | null
  readonly op_name: string
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly started_at_us: number
  readonly ended_at_us: number
  readonly output: unknown
  readonly summary?: Readonly<Record<string, unknown>>
  readonly exception?: string | null
}

/** What a scorer made of a prediction. */
export interface ScorerResult {
  readonly scorer: NamedScorer
  readonly started_at_us: number
  readonly ended_at_us: number
  /** null: it failed. */
  readonly output: JsonObject | null
  readonly exception: string | null
}

/** An id that is the same in all attempts of a job. */
export function idOf(job_id: string, ...names: readonly string[]): string {
  return hashedUuid([job_id, ...names])
}

/** The inputs of the run and of its trials: the evaluation and the model. */
export interface RunSubject {
  readonly op_name: string
  readonly evaluation: string
  readonly model: string
  readonly source_run_id?: string
}

type JobName = Pick<EvaluationJob, 'id' | 'project_id' | 'principal' | 'created_at_us'>

/** Writes the calls of one job. */
export function createRunCalls(job: JobName, options: RunCallOptions) {
  const { id: run_id, project_id, principal } = job
  const { stores, refScheme } = options

  async function write(parts: readonly CallParts[]): Promise<void> {
    for (const { error } of await stores.calls.writeParts(parts)) if (error) throw error
  }

  return {
    /** Starts the run; no effect when it has begun. */
    async startRun({ op_name, evaluation, model, source_run_id }: RunSubject): Promise<void> {
      const source = source_run_id === undefined ? {} : { source_evaluation_run_id: source_run_id }
      const start = {
        project_id,
        id: run_id,
        trace_id: run_id,
        op_name,
        attributes: marksOf('evaluation_run', { evaluation, model, ...source }),
        inputs: { self: evaluation, model },
        // The same in all attempts, so that a repetition changes nothing.
        started_at_us: job.created_at_us,
      }
      const resolved = resolveTimedStart(start, defaultsOf(run_id, run_id, principal), refScheme)
      await stores.calls.startCall(resolved)
    },
    /** Writes a trial with all below it as one commit. @param children - the prediction, if it is new, and scores */
    writeTrial: (trial: EndedCall, children: readonly EndedCall[]) =>
      write([trial, ...children].map((call) => toParts(job, call, refScheme))),
    /** Id of the call that scores a trial. */
    scoreIdOf: (trial_id: string, { ref }: NamedScorer) => idOf(run_id, 'score', trial_id, ref),
    toScoreCall(
      { scorer, output, exception, started_at_us, ended_at_us }: ScorerResult,
      about: {
        readonly parent_id: string
        readonly prediction_id: string
        readonly inputs: JsonObject
        readonly output: unknown
      },
    ): EndedCall {
      const { parent_id, prediction_id, inputs } = about
      return {
        id: idOf(run_id, 'score', parent_id, scorer.ref),
        parent_id,
        // As functions that score are named by the SDKs, which find scores by it.
        op_name: scorer.name,
        attributes: marksOf('score', {
          scorer: scorer.ref,
          prediction_id,
          evaluation_run_id: run_id,
        }),
        inputs: { self: scorer.ref, inputs, output: about.output },
        started_at_us,
        ended_at_us,
        output,
        exception,
      }
    },
    ...createRunEnd(job, options),
  }
}

/** Ends the run of a job, and stores its scores. */
function createRunEnd(job: JobName, options: RunCallOptions) {
  const { id: run_id, project_id, principal } = job
  const { stores, refScheme, nowUs } = options
  return {
    /** Ends the run, with its summary or with an exception; no effect when it has ended. @param summarizeOp - default: the summary is no call of its own */
    async endRun(
      output: JsonObject | null,
      exception: string | null,
      summarizeOp?: string,
    ): Promise<void> {
      const ended_at_us = nowUs()
      if (output !== null && summarizeOp !== undefined) {
        const inputs = { self: null }
        const id = idOf(run_id, 'summarize')
        const own = { id, parent_id: run_id, op_name: summarizeOp, attributes: {}, inputs, output }
        await stores.calls.writeParts([
          toParts(job, { ...own, started_at_us: ended_at_us, ended_at_us }, refScheme),
        ])
      }
      const end = { project_id, id: run_id, ended_at_us, output, exception, summary: {} }
      try {
        await stores.calls.endCall(resolveTimedEnd(end, refScheme))
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'call_conflict') throw error
      }
    },
    /** Stores scores as feedback about the call that was scored, as the SDKs do; those that are stored already, not again. */
    async storeFeedback(
      scored_call_id: string,
      results: readonly (ScorerResult & { readonly call_id: string | null })[],
    ): Promise<void> {
      const made = results.flatMap(({ scorer, output, call_id }) => {
        if (output === null) return []
        const request = {
          project_id,
          weave_ref: callRef(refScheme, project_id, scored_call_id),
          feedback_type: `wandb.runnable.${scorer.name}`,
          payload: { output },
          runnable_ref: scorer.ref,
          call_ref: call_id === null ? null : callRef(refScheme, project_id, call_id),
        }
        const id = idOf(run_id, 'feedback', scored_call_id, scorer.ref)
        const defaults = { id, svc_user_id: principal.svc_user_id, created_at_us: nowUs() }
        return [resolveFeedback(request, defaults, PAYLOAD_BYTES_MAX)]
      })
      if (made.length === 0) return
      for (const stored of await stores.feedback.createFeedbackBatch(made)) {
        if (stored instanceof ApiError && stored.code !== 'feedback_conflict') throw stored
      }
    },
  }
}

export type RunCalls = ReturnType<typeof createRunCalls>

function toParts(
  { id: run_id, project_id, principal }: JobName,
  call: EndedCall,
  refScheme: string,
): CallParts {
  const { ended_at_us, output, summary = {}, exception = null, ...started } = call
  const { id } = call
  const defaults = defaultsOf(id, run_id, principal)
  return {
    start: resolveTimedStart({ project_id, trace_id: run_id, ...started }, defaults, refScheme),
    end: resolveTimedEnd({ project_id, id, ended_at_us, output, summary, exception }, refScheme),
  }
}

function defaultsOf(id: string, trace_id: string, { svc_user_id, svc_username }: Principal) {
  return { id, trace_id, svc_user_id, svc_username }
}
