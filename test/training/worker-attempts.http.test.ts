/** How attempts end: by a lost lease, a failure, a release or their time. */
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { UNKNOWN_ID } from './preview-fixtures.ts'
import {
  claim,
  createJobs,
  readEvents,
  readJob,
  report,
  SHORT_TRAINING,
  sha256Of,
  tryClaim,
  until,
  upload,
} from './worker-fixtures.ts'

const LEASE_LOST = [409, 'lease_lost', 'false'] as const

describe('a lease that is lost', () => {
  it('every report after a lost lease is refused without retry', async () => {
    const testApp = await buildTestApp({ training: SHORT_TRAINING })
    const { model_id } = await createJobs(testApp, 1)
    const late = await claim(testApp)
    await upload(testApp, late, 'late weights')
    const second = await until(
      () => tryClaim(testApp, { worker_id: 'w-2' }),
      ({ status }) => status === 200,
    )
    expect(second.body).toMatchObject({ id: late.id, attempt: 2 })
    const completion = { sha256: sha256Of('late weights'), metrics: {}, trained: true }
    const answers = [
      await report(testApp, late, 'heartbeat'),
      await report(testApp, late, 'events', { events: [] }),
      await upload(testApp, late, 'x'),
      await report(testApp, late, 'complete', completion),
      await report(testApp, late, 'fail', {
        error: { code: 'x', message: '' },
        retryable: false,
      }),
      await report(testApp, late, 'release'),
      await report(testApp, { ...late, id: UNKNOWN_ID }, 'heartbeat'),
    ]
    for (const { status, body, headers } of answers) {
      expect([status, body.error.code, headers['x-should-retry']]).toEqual(LEASE_LOST)
    }
    const { body } = await testApp.get(`/v1/preview/models/${model_id}/checkpoints`)
    expect(body.data).toEqual([])
  })

  it('three lost leases fail the job with a last event, and the next job runs', async () => {
    const testApp = await buildTestApp({ training: { ...SHORT_TRAINING, leaseMs: 100 } })
    const { jobs } = await createJobs(testApp, 2)
    const [job = '', next = ''] = jobs
    for (const attempt of [1, 2, 3]) {
      const { body } = await until(
        () => tryClaim(testApp),
        ({ status }) => status === 200,
      )
      expect([body.id, body.attempt]).toEqual([job, attempt])
    }
    const ended = await until(
      () => readJob(testApp, job),
      ({ status }) => status !== 'running',
    )
    expect([ended.status, ended.error.code]).toEqual(['failed', 'lease_expired'])
    const last = (await readEvents(testApp, job)).at(-1)
    expect(last?.type).toBe('training_failed')
    expect(last?.data.error_message).toEqual(expect.any(String))
    expect((await claim(testApp)).id).toBe(next)
  })
})

describe('an attempt that ends', () => {
  const error = { code: 'bad_data', message: 'The rollouts are of another model.' }

  it('a permanent failure fails the job at once', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const { body } = await report(testApp, await claim(testApp), 'fail', {
      error,
      retryable: false,
    })
    expect(body).toEqual({ status: 'failed' })
    const job = await readJob(testApp, jobs[0] ?? '')
    expect([job.status, job.error]).toEqual(['failed', error])
    expect(await readEvents(testApp, jobs[0] ?? '')).toMatchObject([
      { type: 'training_failed', data: { error_message: error.message } },
    ])
  })

  it('a temporary failure delays the next attempt, and blocks its model meanwhile', async () => {
    const training = { ...SHORT_TRAINING, leaseMs: 60_000, retryMs: 60_000 }
    const testApp = await buildTestApp({ training })
    const { jobs } = await createJobs(testApp, 2)
    const { body } = await report(testApp, await claim(testApp), 'fail', { error, retryable: true })
    expect(body).toEqual({ status: 'queued' })
    expect((await tryClaim(testApp)).status).toBe(204)
    const job = await testApp.deps.trainingJobs.findJob(jobs[0] ?? '')
    const waitMs = ((job?.available_at_us ?? 0) - (job?.last_heartbeat_at_us ?? 0)) / 1000
    expect(waitMs).toBeGreaterThanOrEqual(60_000)
    expect(waitMs).toBeLessThan(130_000)
  })

  it('a released attempt is repeated at once and does not count', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    for (let attempt = 1; attempt <= 5; attempt++) {
      const claimed = await claim(testApp)
      expect([claimed.id, claimed.attempt]).toEqual([jobs[0], attempt])
      const { body } = await report(testApp, claimed, 'release')
      expect(body).toEqual({ status: 'queued' })
    }
    const failure = { error, retryable: true }
    const { body } = await report(testApp, await claim(testApp), 'fail', failure)
    expect(body).toEqual({ status: 'queued' })
  })

  it('an attempt at its time limit fails the job, however often it is renewed', async () => {
    const testApp = await buildTestApp({ training: { ...SHORT_TRAINING, wallMs: 150 } })
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const beat = () => report(testApp, claimed, 'heartbeat')
    await until(beat, ({ status }) => status === 409)
    const job = await until(
      () => readJob(testApp, jobs[0] ?? ''),
      ({ status }) => status !== 'running',
    )
    expect([job.status, job.error.code]).toEqual(['failed', 'wall_limit'])
  })
})

describe('a job that no worker takes', () => {
  it('a job that no worker claims fails after the queue timeout, and those behind it with it', async () => {
    const testApp = await buildTestApp({ training: { ...SHORT_TRAINING, queueTimeoutMs: 100 } })
    const { jobs } = await createJobs(testApp, 2)
    for (const id of jobs) {
      const job = await until(
        () => readJob(testApp, id),
        ({ status }) => status !== 'queued',
      )
      expect([job.status, job.error.code]).toEqual(['failed', 'no_worker'])
      expect((await readEvents(testApp, id)).map(({ type }) => type)).toEqual(['training_failed'])
    }
  })
})
