/** The state table against every move, and any life of a job against what must always hold. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TrainingJob } from '../../src/domain/training/training-job.ts'
import {
  BACKOFF_MS_MAX,
  cancelJob,
  completeJob,
  endOverdue,
  failAttempt,
  type Moved,
  releaseJob,
  renewLease,
  requireLease,
  startAttempt,
  timeOutJob,
} from '../../src/domain/training/training-moves.ts'
import { hasEnded, stateAfter, TRAINING_MOVES } from '../../src/domain/training/training-states.ts'
import { TRAINING_JOB_STATES } from '../../src/schemas/training/training-job.ts'
import { NEW_JOB_ROW } from './store/preview-store-contract.ts'

/** What each state answers to each move: a state, or the error. Written apart from the code's table. */
const EXPECTED: Record<string, string> = {
  queued:
    'running lease_lost lease_lost lease_lost lease_lost lease_lost cancelled lease_lost failed',
  running: 'TypeError running succeeded queued failed queued running cancelled TypeError',
  succeeded:
    'TypeError lease_lost lease_lost lease_lost lease_lost lease_lost training_job_ended lease_lost TypeError',
  failed:
    'TypeError lease_lost lease_lost lease_lost lease_lost lease_lost training_job_ended lease_lost TypeError',
  cancelled:
    'TypeError lease_lost lease_lost lease_lost lease_lost lease_lost cancelled lease_lost TypeError',
}

function answerTo(state: TrainingJob['state'], move: (typeof TRAINING_MOVES)[number]): string {
  try {
    return stateAfter(state, move)
  } catch (error) {
    const { code, name } = error as { code?: string; name: string }
    return code ?? name
  }
}

describe('stateAfter', () => {
  it.each(TRAINING_JOB_STATES)('every move out of %s is decided', (state) => {
    expect(TRAINING_MOVES.map((move) => answerTo(state, move)).join(' ')).toBe(EXPECTED[state])
  })
})

const SECOND_US = 1_000_000
const end = (now_us: number, chance = 0.5) => ({ now_us, chance, retry_ms: 1000 })
const start = (now_us: number) => ({
  now_us,
  lease_token_hash: `token at ${now_us}`,
  lease_ms: 10_000,
  wall_ms: 60_000,
  worker_id: 'w',
  worker_version: '1',
  parent: null,
})

/** What may happen to a job at a time; each throws when it may not. */
const LIFE: Record<string, (job: TrainingJob, now_us: number, chance: number) => Moved> = {
  claim: (job, now_us) => ({ job: startAttempt(job, start(now_us)), event: null }),
  renew: (job, now_us) => {
    requireLease(job, job.lease_token_hash ?? '', now_us)
    return { job: renewLease(job, { now_us, lease_ms: 10_000, progress: null }), event: null }
  },
  complete: (job, now_us) => {
    requireLease(job, job.lease_token_hash ?? '', now_us)
    return completeJob(job, { id: 'c', step: 1, reason: null }, now_us)
  },
  fail: (job, now_us, chance) => {
    requireLease(job, job.lease_token_hash ?? '', now_us)
    const failure = { code: 'x', message: 'x', isRetryable: chance < 0.9 }
    return failAttempt(job, failure, end(now_us, chance))
  },
  release: (job, now_us) => releaseJob(job, now_us),
  overdue: (job, now_us, chance) => endOverdue(job, end(now_us, chance)),
  cancel: (job, now_us) => cancelJob(job, 'cancelled', now_us),
  timeOut: (job, now_us) => timeOutJob(job, now_us),
}

describe('any life of a job', () => {
  it('an ended job remains ended, has one last event, and counts its attempts', () => {
    const moves = fc.array(
      fc.record({
        name: fc.constantFrom(...Object.keys(LIFE)),
        seconds: fc.nat(20),
        chance: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(moves, (life) => {
        let job: TrainingJob = NEW_JOB_ROW
        let now_us = SECOND_US
        let lastEvents = 0
        for (const { name, seconds, chance } of life) {
          now_us += seconds * SECOND_US + 1
          const before = job
          try {
            const moved = LIFE[name]?.(job, now_us, chance) as Moved
            job = moved.job
            if (moved.event) lastEvents += 1
          } catch (error) {
            expect((error as Error).message).not.toBe('')
          }
          if (hasEnded(before.state)) expect(job).toEqual(before)
          expect(lastEvents).toBe(hasEnded(job.state) ? 1 : 0)
          expect(job.finished_at_us !== null).toBe(hasEnded(job.state))
          expect(job.lease_expires_at_us !== null).toBe(job.state === 'running')
          expect(job.attempt - job.released_count).toBeLessThanOrEqual(job.max_attempts)
          expect(job.attempt).toBeGreaterThanOrEqual(before.attempt)
          if (job.state === 'running') {
            expect(job.lease_expires_at_us).toBeLessThanOrEqual(job.attempt_deadline_us ?? 0)
          }
        }
      }),
    )
  })

  it('a job waits longer after each failure, up to the bound', () => {
    const waits: number[] = []
    let job: TrainingJob = { ...NEW_JOB_ROW, max_attempts: 100 }
    for (let attempt = 1; attempt <= 12; attempt++) {
      const running = startAttempt(job, start(0))
      const failure = { code: 'x', message: 'x', isRetryable: true }
      job = failAttempt(running, failure, end(0, 0)).job
      waits.push(job.available_at_us / 1000)
    }
    expect(waits.slice(0, 3)).toEqual([2000, 4000, 8000])
    expect(waits.at(-1)).toBe(BACKOFF_MS_MAX)
    const half = failAttempt(
      startAttempt(NEW_JOB_ROW, start(0)),
      { code: 'x', message: 'x', isRetryable: true },
      end(0, 1),
    )
    expect(half.job.available_at_us / 1000).toBe(1000)
  })

  it('a job reports the step lag of rollouts that name their step', () => {
    const parent = { id: 'p', step: 7 }
    const lagOf = (oldest_policy_version: number | null) =>
      startAttempt({ ...NEW_JOB_ROW, oldest_policy_version }, { ...start(0), parent }).policy_lag
    expect([lagOf(4), lagOf(7), lagOf(null)]).toEqual([3, 0, null])
    // Of a step that was deleted, or of another model.
    expect(lagOf(8)).toBeNull()
    const first = { ...start(0), parent: null }
    expect(startAttempt({ ...NEW_JOB_ROW, oldest_policy_version: 1 }, first).policy_lag).toBeNull()
  })
})
