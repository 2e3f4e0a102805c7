/** The contract of the store of evaluations that the server runs: which there are, and who runs each. */
import type { Principal } from '../../../domain/access/permissions.ts'
import type { HeldOutPrompt } from '../../../domain/training/traffic/held-out-prompts.ts'
import type { Scorer } from '../../../schemas/evaluators/scorer.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'

/** Limits: unfinished jobs of a project and of a server, and finished ones whose status is known. */
export const JOBS_PER_PROJECT_MAX = 10
export const JOBS_MAX = 200
export const FINISHED_JOBS_MAX = 10_000

/** What a job does, by the refs and ids of its request. */
export type JobWork =
  | {
      readonly kind: 'evaluate'
      readonly evaluation_ref: string
      readonly model_ref: string
    }
  | {
      readonly kind: 'rescore'
      readonly source_run_id: string
      readonly scorer_refs: readonly string[]
    }
  | {
      readonly kind: 'score'
      readonly call_ids: readonly string[]
      readonly scorer_refs: readonly string[]
    }
  | {
      readonly kind: 'compare'
      /** Names of models; the first is what the others are compared with. */
      readonly models: readonly string[]
      /** Messages and tools of chats; none once the job has ended, since they are copies of calls that may be deleted. */
      readonly prompts: readonly HeldOutPrompt[]
      readonly scorer: Scorer
      /** Responses of each model to each prompt. */
      readonly samples: number
      /** Of the requests: token limit, temperature, ... */
      readonly parameters: JsonObject
      readonly seed: number
    }

/** Whether a job records a run: a call with its id. */
export function recordsRun({ kind }: JobWork): boolean {
  return kind === 'evaluate' || kind === 'rescore'
}

export interface EvaluationJob {
  /** Of the call that is the run, if there is one. */
  readonly id: string
  readonly project_id: string
  readonly work: JobWork
  /** Who began it and pays. */
  readonly principal: Principal
  readonly created_at_us: number
  readonly state: 'running' | 'complete' | 'failed' | 'cancelled'
  readonly completed_rows: number
  readonly total_rows: number
  /** How often a process has begun with it. */
  readonly attempts: number
  readonly error: string | null
  /** The summary as JSON; null before its end. */
  readonly output_json: string | null
}

export interface JobClaim {
  readonly claim_id: string
  readonly now_us: number
  /** When others may claim it. */
  readonly until_us: number
}

export interface EvaluationJobStore {
  /** @throws ApiError rate_limit_exceeded for more than JOBS_PER_PROJECT_MAX or JOBS_MAX unfinished ones */
  createJob(job: EvaluationJob): Promise<void>
  findJob(project_id: string, id: string): Promise<EvaluationJob | null>
  /** The newest first. */
  listEndedComparisons(project_id: string, limit: number): Promise<EvaluationJob[]>
  /** Claims the oldest running job that nobody runs. */
  claimJob(claim: JobClaim): Promise<EvaluationJob | null>
  /** Lets all running jobs be claimed: only for a process that shares the store with no other, when it starts. */
  releaseAll(): Promise<void>
  /** Prolongs a claim and stores how far the job is. False when it is lost: cancelled, or claimed by another. */
  renewClaim(
    claim: JobClaim & { readonly id: string; readonly completed_rows: number },
  ): Promise<boolean>
  /** Ends a claimed job; false when the claim is lost. */
  finishJob(
    end: Pick<EvaluationJob, 'id' | 'error' | 'output_json'> & {
      readonly claim_id: string
      readonly state: 'complete' | 'failed'
      readonly completed_rows: number
    },
  ): Promise<boolean>
  /** Gives a claimed job back, for others to run at once. */
  releaseJob(claim: { readonly id: string; readonly claim_id: string }): Promise<void>
  /** Cancels a running job; false when it is none. */
  cancelJob(project_id: string, id: string): Promise<boolean>
}
