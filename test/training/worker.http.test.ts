/** A worker that trains: its checkpoints, artifacts and events. */
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { JOBS_URL } from './preview-fixtures.ts'
import {
  claim,
  createJobs,
  finish,
  readEvents,
  readJob,
  report,
  SHORT_TRAINING,
  sha256Of,
  upload,
  WORKER_URL,
} from './worker-fixtures.ts'

const GRADIENT = { type: 'gradient_step', data: { loss: 0.5 } }
const started = (num_sequences: number) => ({ type: 'training_started', data: { num_sequences } })

describe('a worker that trains', () => {
  it("a worker's checkpoints continue each other and name their maker", async () => {
    const testApp = await buildTestApp()
    const { model_id, jobs } = await createJobs(testApp, 2)
    const first = await finish(testApp, await claim(testApp), 'first weights')
    expect(first.step).toBe(1)
    const second = await claim(testApp, { worker_version: '2.0' })
    expect(second.parent_checkpoint).toEqual({
      id: first.id,
      step: 1,
      artifact: {
        url: `${WORKER_URL}/jobs/${jobs[1]}/parent-artifact`,
        sha256: sha256Of('first weights'),
        bytes: 13,
      },
    })
    const { lease_token } = second
    const headers = { 'x-weft-lease': lease_token }
    const parent = await testApp.get(second.parent_checkpoint.artifact.url, { headers })
    expect([parent.status, parent.text]).toEqual([200, 'first weights'])
    expect((await finish(testApp, second)).step).toBe(2)
    const { body } = await testApp.get(`/v1/preview/models/${model_id}/checkpoints/latest`)
    expect(body).toMatchObject({
      step: 2,
      job_id: jobs[1],
      metrics: { reward: 1 },
      worker: { id: 'w-1', version: '2.0' },
    })
  })

  it('a step is listed as soon as training_ended is', async () => {
    const testApp = await buildTestApp()
    const { model_id, jobs } = await createJobs(testApp, 1)
    const { id, step } = await finish(testApp, await claim(testApp))
    const events = await readEvents(testApp, jobs[0] ?? '')
    expect(events.at(-1)).toMatchObject({ type: 'training_ended', data: { step } })
    const { body } = await testApp.get(
      `/v1/preview/models/${model_id}/checkpoints?limit=1&order=desc`,
    )
    expect(body.data).toEqual([{ id, step, metrics: { reward: 1 } }])
    expect(await readJob(testApp, jobs[0] ?? '')).toMatchObject({
      status: 'succeeded',
      progress: 1,
      checkpoint: { id, step },
      finished_at: expect.any(String),
    })
  })

  it('a repeated completion returns the same checkpoint, a different one artifact_conflict', async () => {
    const testApp = await buildTestApp()
    const { model_id } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const checkpoint = await finish(testApp, claimed, 'weights')
    const again = { sha256: sha256Of('weights'), metrics: {}, trained: true }
    const repeated = await report(testApp, claimed, 'complete', again)
    expect([repeated.status, repeated.body]).toEqual([200, { checkpoint }])
    const other = { ...again, sha256: sha256Of('other') }
    const refused = await report(testApp, claimed, 'complete', other)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'artifact_conflict'])
    const { body } = await testApp.get(`/v1/preview/models/${model_id}/checkpoints`)
    expect(body.data).toHaveLength(1)
  })

  it('a completion with an artifact that was not uploaded is refused', async () => {
    const testApp = await buildTestApp()
    await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const completion = { sha256: sha256Of('x'), metrics: {}, trained: true }
    for (const bytes of [null, 'y']) {
      if (bytes) await upload(testApp, claimed, bytes)
      const { status, body } = await report(testApp, claimed, 'complete', completion)
      expect([status, body.error.code]).toEqual([409, 'artifact_conflict'])
    }
    await upload(testApp, claimed, 'x')
    expect((await report(testApp, claimed, 'complete', completion)).status).toBe(200)
  })

  it.each([
    [{ trained: true }, 'sha256 is required'],
    [
      { trained: true, sha256: sha256Of('x'), reason: 'no_choice' },
      'reason must be given when trained is false, and only then',
    ],
    [{ trained: false }, 'reason is required'],
    [
      { trained: false, sha256: sha256Of('x'), reason: 'no_choice' },
      'sha256 must be given when trained is true, and only then',
    ],
    [
      { trained: false, reason: 'no_luck' },
      'reason must be one of no_choice, no_logprobs, no_variance',
    ],
  ])('a completion is refused as %j', async (completion, problem) => {
    const testApp = await buildTestApp()
    await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    await upload(testApp, claimed, 'x')
    const sent = { metrics: {}, ...completion }
    const { status, body } = await report(testApp, claimed, 'complete', sent)
    expect([status, body.error.message]).toEqual([422, expect.stringContaining(problem)])
  })

  it.each(['no_choice', 'no_logprobs', 'no_variance'])(
    'for %s a step has the weights of its parent and the reason',
    async (reason) => {
      const testApp = await buildTestApp()
      const { model_id, jobs } = await createJobs(testApp, 2)
      await finish(testApp, await claim(testApp), 'weights')
      const untrained = { metrics: { reward: 0 }, trained: false, reason }
      const { body } = await report(testApp, await claim(testApp), 'complete', untrained)
      expect(body.checkpoint.step).toBe(2)
      const { body: detail } = await testApp.get(`/v1/preview/models/${model_id}/checkpoints/2`)
      expect(detail.artifact.sha256).toBe(sha256Of('weights'))
      expect(detail.metrics).toEqual({ num_groups_trainable: 0, reward: 0 })
      const job = await readJob(testApp, jobs[1] ?? '')
      expect([job.status, job.untrained_reason]).toEqual(['succeeded', reason])
      const ended = (await readEvents(testApp, jobs[1] ?? '')).at(-1)
      expect(ended).toMatchObject({ type: 'training_ended', data: { step: 2, reason } })
    },
  )

  it('a heartbeat renews the lease and shows the progress', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const { status, body } = await report(testApp, claimed, 'heartbeat', { progress: 0.25 })
    expect([status, body.cancel_requested]).toEqual([200, false])
    expect(body.lease_expires_at > claimed.lease_expires_at).toBe(true)
    const job = await readJob(testApp, jobs[0] ?? '')
    expect(job).toMatchObject({ status: 'running', progress: 0.25, worker: { id: 'w-1' } })
    expect(job.last_heartbeat_at > job.started_at).toBe(true)
  })
})

describe('PUT /v1/preview/worker/jobs/{job_id}/artifact', () => {
  it('an artifact with a wrong hash, size, media type or lease is refused', async () => {
    const testApp = await buildTestApp({ artifactBytesMax: 1024 })
    await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const answers = [
      await upload(testApp, claimed, 'x', { 'x-weft-sha256': sha256Of('y') }),
      await upload(testApp, claimed, 'x', { 'x-weft-sha256': 'nope' }),
      await upload(testApp, claimed, Buffer.alloc(1025)),
      await upload(testApp, claimed, '{}', { 'content-type': 'application/json' }),
      await upload(testApp, claimed, 'x', { 'x-weft-lease': 'other' }),
    ]
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [409, 'digest_mismatch'],
      [400, 'invalid_header'],
      [413, 'request_too_large'],
      [415, 'unsupported_media_type'],
      [409, 'lease_lost'],
    ])
    const job = await testApp.deps.trainingJobs.findJob(claimed.id)
    expect(job?.staged_path).toBeNull()
  })
})

describe('events', () => {
  it('events are listed once, in order, after a training_started of the server', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const steps = [0, 1, 2].map((seq) => ({ seq, ...GRADIENT, data: { loss: seq } }))
    await report(testApp, claimed, 'events', { events: steps.slice(0, 2) })
    await report(testApp, claimed, 'events', { events: steps })
    await finish(testApp, claimed)
    const events = await readEvents(testApp, jobs[0] ?? '')
    expect(events.map(({ type, data }) => [type, data.loss ?? data.num_sequences])).toEqual([
      ['training_started', 1],
      ['gradient_step', 0],
      ['gradient_step', 1],
      ['gradient_step', 2],
      ['training_ended', undefined],
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(5)
  })

  it('events contain the training_started of the worker', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const sent = [started(7), GRADIENT].map((event, seq) => ({ seq, ...event }))
    await report(testApp, claimed, 'events', { events: sent })
    const events = await readEvents(testApp, jobs[0] ?? '')
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([started(7), GRADIENT])
  })

  it('events of an abandoned attempt are hidden, and the reader continues after them', async () => {
    const testApp = await buildTestApp({ training: { ...SHORT_TRAINING, leaseMs: 60_000 } })
    const { jobs } = await createJobs(testApp, 1)
    const job = jobs[0] ?? ''
    const first = await claim(testApp)
    const one = { seq: 0, ...started(2) }
    const two = { seq: 1, ...GRADIENT, data: { loss: 1 } }
    await report(testApp, first, 'events', { events: [one, two] })
    const seen = await readEvents(testApp, job)
    const error = { code: 'out_of_memory', message: 'No memory.' }
    await report(testApp, first, 'fail', { error, retryable: true })
    const second = await claim(testApp)
    expect(second.attempt).toBe(2)
    await report(testApp, second, 'events', { events: [{ ...two, data: { loss: 2 } }] })
    await finish(testApp, second)
    const url = `${JOBS_URL}/${job}/events?after=${seen.at(-1)?.id}`
    const rest = (await testApp.get(url)).body.data
    const all = await readEvents(testApp, job)
    expect(rest).toEqual(all)
    expect(all.map(({ type, data }) => [type, data.loss])).toEqual([
      ['training_started', undefined],
      ['gradient_step', 2],
      ['training_ended', undefined],
    ])
  })

  it.each([
    ['a final type', { seq: 0, type: 'training_ended', data: {} }],
    ['a text in the data', { seq: 0, type: 'gradient_step', data: { loss: '0.5' } }],
    ['null in the data', { seq: 0, type: 'gradient_step', data: { loss: null } }],
    ['a start without num_sequences', { seq: 0, type: 'training_started', data: {} }],
    ['a negative num_sequences', { seq: 0, ...started(-1) }],
    ['half a num_sequences', { seq: 0, ...started(0.5) }],
    ['a negative seq', { seq: -1, ...GRADIENT }],
    ['a seq beyond the limit', { seq: 2 ** 53 - 1, ...GRADIENT }, 'from 0 to 1000000000'],
  ])('events with %s are refused', async (_what, event, told = '') => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const { status, body } = await report(testApp, claimed, 'events', { events: [event] })
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(body.error.message).toContain(told)
    expect(await readEvents(testApp, jobs[0] ?? '')).toEqual([])
  })
})
