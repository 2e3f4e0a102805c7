import { afterEach, expect, it, vi } from 'vitest'
import type { ClaimedJob, TrainingQueue } from '../../../src/store/api/training/training-queue.ts'
import { createJobClaims } from '../../../src/training/jobs/job-claims.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('gives a waiting worker a job that another process has queued, of which nothing tells', async () => {
  vi.useFakeTimers()
  const job = { job: { id: 'job-1' } } as unknown as ClaimedJob
  let queued: ClaimedJob | null = null
  const queue = {
    claimJob: async () => queued,
    endOverdue: async () => 0,
    nextDueUs: async () => null,
    resumeLeases: async () => undefined,
    onChange: () => () => undefined,
  } as unknown as TrainingQueue
  const claims = createJobClaims({
    queue,
    settings: { leaseMs: 1000, wallMs: 1000, queueTimeoutMs: 0, retryMs: 1 },
    clock: { nowUs: () => 1, onJump: () => () => undefined },
    onFault: (error) => expect.unreachable(String(error)),
  })
  await claims.start()
  const wanted = { lease_token_hash: '', worker_id: 'w', worker_version: '1' }
  const claiming = claims.claim(
    { ...wanted, base_models: ['tiny'], projects: ['*'] },
    20_000,
    new AbortController().signal,
  )
  await vi.advanceTimersByTimeAsync(1000)
  queued = job
  await vi.advanceTimersByTimeAsync(18_000)
  claims.close()
  expect(await claiming).toBe(job)
})
