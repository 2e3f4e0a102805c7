/** Runs evaluations in the background. Processes that share a store share the jobs; one that dies leaves its jobs to others. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Principal, Scope } from '../domain/access/permissions.ts'
import { renderJson } from '../domain/json/json-text.ts'
import { ApiError } from '../errors.ts'
import { readPayer } from '../inference/scorers/payer.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import {
  type EvaluationJob,
  type JobClaim,
  recordsRun,
} from '../store/api/evaluations/evaluation-jobs.ts'
import type { Stores } from '../store/api/stores.ts'
import { runComparison } from './compare.ts'
import { runEvaluation } from './evaluate.ts'
import { runRescore } from './rescore.ts'
import { createRunCalls } from './run-calls.ts'
import { runScores } from './score-calls.ts'
import type { JobContext, JobRunOptions } from './scoring.ts'

/** Limit: jobs of a process at once. */
const JOBS_AT_ONCE = 2
/** Limit: attempts at a job, which ends the process or its store each time. */
const ATTEMPTS_MAX = 20
/** How long a claim lasts without being renewed, and how often it is. */
const CLAIM_US = 30_000_000
const RENEW_MS = 5_000
/** Pause between two reads of what waits, besides those after a request. */
const PAUSE_MS = 5_000
/** Limit: how long running jobs delay the exit of the process. */
const STOP_MS_MAX = 1_000
/** What whoever begins a job needs, and still needs when it runs. */
const SCOPES: readonly Scope[] = ['traces:read', 'traces:write', 'inference']

interface EvaluationRunnerOptions extends JobRunOptions {
  /** Whether other processes run jobs of the same store. */
  readonly isShared: boolean
  readonly stores: JobRunOptions['stores'] & Pick<Stores, 'evaluationJobs' | 'keys' | 'people'>
}

type JobEnd = Pick<
  Parameters<Stores['evaluationJobs']['finishJob']>[0],
  'state' | 'error' | 'output_json'
>

interface EvaluationRunner {
  /** Claims what waits, now and then again. */
  start(): void
  /** Claims what waits now. */
  wake(): void
  /** Aborts what runs and gives it back. */
  stop(): Promise<void>
}

export function createEvaluationRunner(options: EvaluationRunnerOptions): EvaluationRunner {
  const { stores, nowUs, onFailure } = options
  const { evaluationJobs: jobs } = stores
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  let claiming: Promise<void> | null = null

  function claimOf(claim_id: string): JobClaim {
    const now_us = nowUs()
    return { claim_id, now_us, until_us: now_us + CLAIM_US }
  }

  async function claimAll(): Promise<void> {
    while (running.size < JOBS_AT_ONCE && !stopping.signal.aborted) {
      const claim_id = randomUUID()
      const job = await jobs.claimJob(claimOf(claim_id))
      if (job === null) return
      const run = runClaimed(job, claim_id)
        .catch((error) => {
          if (!stopping.signal.aborted) onFailure(error)
        })
        .finally(() => {
          running.delete(run)
          wake()
        })
      running.add(run)
    }
  }

  function wake(): void {
    if (stopping.signal.aborted) return
    claiming ??= claimAll()
      .catch((error) => {
        if (!stopping.signal.aborted) onFailure(error)
      })
      .finally(() => {
        claiming = null
      })
  }

  async function runClaimed(job: EvaluationJob, claim_id: string): Promise<void> {
    const lost = new AbortController()
    const signal = AbortSignal.any([stopping.signal, lost.signal])
    const named = { id: job.id, claim_id }
    let completed_rows = 0
    const renewal = setInterval(() => {
      jobs
        .renewClaim({ ...claimOf(claim_id), id: job.id, completed_rows })
        .then((isHeld) => isHeld || lost.abort(), onFailure)
    }, RENEW_MS)
    renewal.unref()
    const onRow = () => {
      completed_rows += 1
    }
    /** Finishes the job as its run has ended, by this attempt, an earlier one, or a request to cancel it. */
    const finish = async (end: JobEnd) => {
      const recorded = await findRunEnd(job, options)
      await jobs.finishJob({ ...named, completed_rows, ...(recorded ?? end) })
    }
    try {
      await finish(await runToEnd(job, { signal, onRow }, options))
    } catch (error) {
      if (lost.signal.aborted) return
      if (stopping.signal.aborted) return await jobs.releaseJob(named)
      const ending = error instanceof ApiError ? error : new ApiError('internal_error')
      // Another attempt is made when the claim has ended.
      if (ending.code === 'store_unavailable') throw error
      if (ending !== error) onFailure(error)
      const failure = `${ending.code}: ${ending.message}`
      const isHeld = await jobs.renewClaim({ ...claimOf(claim_id), id: job.id, completed_rows })
      if (!isHeld) return
      // The run ends first: where the process ends in between, another attempt finishes the job.
      if (recordsRun(job.work)) await createRunCalls(job, options).endRun(null, failure)
      await finish({ state: 'failed', error: failure, output_json: null })
    } finally {
      clearInterval(renewal)
    }
  }

  async function repeat(): Promise<void> {
    // Those of a process that was killed.
    if (!options.isShared) await jobs.releaseAll().catch(onFailure)
    while (!stopping.signal.aborted) {
      wake()
      const { signal } = stopping
      await sleep(PAUSE_MS, undefined, { ref: false, signal }).catch(() => undefined)
    }
  }

  return {
    start: () => void repeat(),
    wake,
    async stop() {
      stopping.abort()
      const ended = Promise.allSettled([claiming, ...running])
      await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })])
    },
  }
}

/** Returns how the run that a job records has ended; null: it runs, or none is recorded. */
async function findRunEnd(
  { project_id, id, work }: EvaluationJob,
  { stores }: JobRunOptions,
): Promise<JobEnd | null> {
  const run = recordsRun(work) ? await stores.calls.findCall(project_id, id) : null
  if (run === null || run.ended_at_us === null) return null
  const { exception, output } = run
  return exception === null
    ? { state: 'complete', error: null, output_json: renderJson(output) }
    : { state: 'failed', error: exception, output_json: null }
}

/** Runs a job whose run no earlier attempt has ended. */
async function runToEnd(
  job: EvaluationJob,
  running: Pick<JobContext, 'signal' | 'onRow'>,
  options: EvaluationRunnerOptions,
): Promise<JobEnd> {
  const earlier = job.attempts === 1 ? null : await findRunEnd(job, options)
  if (earlier !== null) return earlier
  if (job.attempts > ATTEMPTS_MAX) throw new ApiError('internal_error')
  const caller = await requirePayer(job, options)
  const context = { ...running, caller, job, calls: createRunCalls(job, options) }
  const output = await runWork(context, options)
  return { state: 'complete', error: null, output_json: JSON.stringify(output) }
}

/** @returns the summary */
function runWork(context: JobContext, options: JobRunOptions): Promise<JsonObject> {
  const { work } = context.job
  if (work.kind === 'evaluate') return runEvaluation(work, context, options)
  if (work.kind === 'rescore') return runRescore(work, context, options)
  if (work.kind === 'compare') return runComparison(work, context, options)
  return runScores(work, context, options)
}

/** Returns the principal that began a job, with the rights of the present. @throws ApiError scope_missing */
async function requirePayer(
  { principal, project_id }: EvaluationJob,
  options: Pick<EvaluationRunnerOptions, 'stores' | 'nowUs'>,
): Promise<Principal> {
  const payer = await readPayer(principal, { project_id, scopes: SCOPES }, options)
  if (typeof payer !== 'string') return payer
  const message =
    payer === 'person'
      ? 'Who began it may not sign in any more, or lacks the rights.'
      : 'The key that began it is revoked, over, or lacks the rights.'
  throw new ApiError('scope_missing', { message })
}
