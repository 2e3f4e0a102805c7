/** Evaluations that the server runs, in SQLite and PostgreSQL alike. */
import type { Principal } from '../../../domain/access/permissions.ts'
import { parseLossless } from '../../../domain/json/json-text.ts'
import { ApiError } from '../../../errors.ts'
import {
  type EvaluationJob,
  type EvaluationJobStore,
  FINISHED_JOBS_MAX,
  JOBS_MAX,
  JOBS_PER_PROJECT_MAX,
  type JobClaim,
  type JobWork,
} from '../../api/evaluations/evaluation-jobs.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './evaluation-jobs.sql.ts'

/** Longer than any claim. */
const CLAIM_US_MAX = 3_600_000_000

interface JobRow extends Omit<EvaluationJob, 'work' | 'principal'> {
  readonly work_json: string
  readonly principal_json: string
  readonly claimed_until_us: number
}

type JobWrites = ReturnType<typeof createEvaluationJobWrites>
type JobEnd = Parameters<EvaluationJobStore['finishJob']>[0]
type JobRenewal = Parameters<EvaluationJobStore['renewClaim']>[0]

export function createEvaluationJobWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lockClaimable = SQL.lockClaimable(forUpdate)
  return {
    *create_evaluation_job({ work, principal, ...job }: EvaluationJob): Steps<void> {
      const { project_id } = job
      yield* run(SQL.INSERT_JOB, {
        ...job,
        work_json: JSON.stringify(work),
        principal_json: JSON.stringify(principal),
        claimed_until_us: 0,
      })
      const ofProject = yield* count(SQL.COUNT_RUNNING_OF_PROJECT, { project_id })
      if (ofProject > JOBS_PER_PROJECT_MAX || (yield* count(SQL.COUNT_RUNNING, {})) > JOBS_MAX) {
        throw new ApiError('rate_limit_exceeded', {
          message: `A project runs at most ${JOBS_PER_PROJECT_MAX} evaluations at a time, a server ${JOBS_MAX}.`,
          retryAfterS: 60,
        })
      }
      yield* run(SQL.PRUNE_JOBS, { limit: FINISHED_JOBS_MAX })
    },
    *claim_evaluation_job({ claim_id, now_us, until_us }: JobClaim): Steps<EvaluationJob | null> {
      const due = { now_us, latest_us: now_us + CLAIM_US_MAX }
      const row = yield* first<JobRow>(lockClaimable, due)
      if (row === undefined) return null
      yield* run(SQL.CLAIM_JOB, { id: row.id, claim_id, until_us })
      const { attempts, ...job } = toJob(row)
      return { ...job, attempts: attempts + 1 }
    },
    *renew_evaluation_job({ id, claim_id, until_us, completed_rows }: JobRenewal): Steps<boolean> {
      return (yield* run(SQL.RENEW_CLAIM, { id, claim_id, until_us, completed_rows })) === 1
    },
    *finish_evaluation_job(end: JobEnd): Steps<boolean> {
      const isHeld = (yield* run(SQL.FINISH_JOB, end)) === 1
      if (isHeld) yield* dropPrompts(end.id)
      return isHeld
    },
    *release_evaluation_job(claim: {
      readonly id: string
      readonly claim_id: string
    }): Steps<void> {
      yield* run(SQL.RELEASE_JOB, claim)
    },
    *release_evaluation_jobs(_: null): Steps<void> {
      yield* run(SQL.RELEASE_ALL, {})
    },
    *cancel_evaluation_job(named: {
      readonly id: string
      readonly project_id: string
    }): Steps<boolean> {
      const isCancelled = (yield* run(SQL.CANCEL_JOB, named)) === 1
      if (isCancelled) yield* dropPrompts(named.id)
      return isCancelled
    },
  }
}

/** Removes the copies of prompts from a job that has ended. */
function* dropPrompts(id: string): Steps<void> {
  const row = yield* first<Pick<JobRow, 'work_json'>>(SQL.FIND_WORK, { id })
  const work = row && (parseLossless(row.work_json) as JobWork)
  if (work?.kind !== 'compare') return
  yield* run(SQL.SET_WORK, { id, work_json: JSON.stringify({ ...work, prompts: [] }) })
}

function toJob({ work_json, principal_json, claimed_until_us: _, ...job }: JobRow): EvaluationJob {
  return {
    ...job,
    work: parseLossless(work_json) as JobWork,
    principal: JSON.parse(principal_json) as Principal,
  }
}

export function createEvaluationJobStore({ read, write }: StepRuns<JobWrites>): EvaluationJobStore {
  return {
    createJob: (job) => write('create_evaluation_job', job),
    async findJob(project_id, id) {
      const row = await read(first<JobRow>(SQL.FIND_JOB, { project_id, id }))
      return row === undefined ? null : toJob(row)
    },
    async listEndedComparisons(project_id, limit) {
      const rows = await read(all<JobRow>(SQL.LIST_ENDED_COMPARISONS, { project_id, limit }))
      return rows.map(toJob)
    },
    releaseAll: () => write('release_evaluation_jobs', null),
    claimJob: (claim) => write('claim_evaluation_job', claim),
    renewClaim: (claim) => write('renew_evaluation_job', claim),
    finishJob: (end) => write('finish_evaluation_job', end),
    releaseJob: (claim) => write('release_evaluation_job', claim),
    cancelJob: (project_id, id) => write('cancel_evaluation_job', { project_id, id }),
  }
}
