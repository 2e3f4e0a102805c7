import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClaimedJob, TrainingQueue } from '../../../src/store/api/training/training-queue.ts'
import { createJobClaims } from '../../../src/training/jobs/job-claims.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const JOB = { job: { id: 'job-1', lease_token_hash: 'hash' } } as unknown as ClaimedJob
const WANTED = {
  lease_token_hash: '',
  worker_id: 'w',
  worker_version: '1',
  base_models: ['tiny'],
  projects: ['*'],
}

/** Claims of a queue that has no job unless it is told otherwise. */
async function openClaims(changes: Partial<TrainingQueue> = {}) {
  const faults: unknown[] = []
  const released: unknown[] = []
  let notify = () => {}
  const queue = {
    claimJob: async () => null,
    releaseJob: async (lease: object) => void released.push(lease),
    endOverdue: async () => 0,
    nextDueUs: async () => null,
    resumeLeases: async () => undefined,
    onChange(listener: () => void) {
      notify = listener
      return () => undefined
    },
    ...changes,
  } as unknown as TrainingQueue
  const claims = createJobClaims({
    queue,
    settings: { leaseMs: 1000, wallMs: 1000, queueTimeoutMs: 0, retryMs: 1 },
    clock: { nowUs: () => 1, onJump: () => () => undefined },
    onFault: (error) => faults.push(error),
  })
  await claims.start()
  const leaving = new AbortController()
  return {
    claims,
    faults,
    released,
    notify: () => notify(),
    claim: () =>
      claims.claim(WANTED, 20_000, { signal: leaving.signal, isAllowed: async () => true }),
    leave: () => leaving.abort(),
  }
}

it('a waiting worker gets a job that another process queued without notification', async () => {
  let queued: ClaimedJob | null = null
  const { claim, claims, faults } = await openClaims({ claimJob: async () => queued })
  const claiming = claim()
  await vi.advanceTimersByTimeAsync(1000)
  queued = JOB
  await vi.advanceTimersByTimeAsync(18_000)
  claims.close()
  expect([await claiming, faults]).toEqual([JOB, []])
})

it.each([1, 2])('a job is released when its worker left during poll %d', async (look) => {
  const looks: ((job: ClaimedJob | null) => void)[] = []
  const { claim, leave, released, claims } = await openClaims({
    claimJob: () => new Promise((resolve) => looks.push(resolve)),
  })
  const claiming = claim()
  await vi.advanceTimersByTimeAsync(0)
  for (let seen = 1; seen < look; seen += 1) {
    looks[seen - 1]?.(null)
    await vi.advanceTimersByTimeAsync(0)
  }
  leave()
  looks[look - 1]?.(JOB)
  expect(await claiming).toBeNull()
  await vi.advanceTimersByTimeAsync(0)
  expect(released).toEqual([{ job_id: 'job-1', token_hash: 'hash', now_us: 1 }])
  claims.close()
})

it('a waiting worker receives an error of the queue', async () => {
  const broken = new Error('broken')
  let isBroken = false
  const { claim, claims, notify } = await openClaims({
    async claimJob() {
      if (isBroken) throw broken
      return null
    },
  })
  const claiming = expect(claim()).rejects.toBe(broken)
  await vi.advanceTimersByTimeAsync(10)
  isBroken = true
  notify()
  await claiming
  claims.close()
})

it('256 workers may wait, and the next is refused', async () => {
  const { claim, claims } = await openClaims()
  const waiting = Array.from({ length: 256 }, claim)
  await vi.advanceTimersByTimeAsync(10)
  await expect(claim()).rejects.toMatchObject({ code: 'server_overloaded', retryAfterS: 5 })
  claims.close()
  expect(await Promise.all(waiting)).toEqual(Array(256).fill(null))
})

it('the queue is polled again when its next due time could not be read', async () => {
  const broken = new Error('broken')
  let asked = 0
  const { claims, faults } = await openClaims({
    async nextDueUs() {
      asked += 1
      if (asked === 1) throw broken
      return null
    },
  })
  await vi.advanceTimersByTimeAsync(500)
  expect([asked, faults]).toEqual([1, [broken]])
  await vi.advanceTimersByTimeAsync(1000)
  expect([asked, faults]).toEqual([2, [broken]])
  claims.close()
})
