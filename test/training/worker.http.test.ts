import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  createModel,
  FULL_CONFIG,
  JOBS_URL,
  jobOf,
  TRAJECTORY,
  UNKNOWN_ID,
} from './preview-fixtures.ts'
import {
  CLAIM,
  claim,
  createJobs,
  finish,
  readEvents,
  readJob,
  report,
  SHORT_TRAINING,
  sha256Of,
  tryClaim,
  until,
  upload,
  WORKER_URL,
} from './worker-fixtures.ts'

const LEASE_LOST = [409, 'lease_lost', 'false'] as const
const GRADIENT = { type: 'gradient_step', data: { loss: 0.5 } }
const started = (num_sequences: number) => ({ type: 'training_started', data: { num_sequences } })

describe('POST /v1/preview/worker/claim', () => {
  it('gives the oldest job with all that its training needs', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const trajectory = { ...TRAJECTORY, initial_policy_version: 0 }
    const { body: job } = await testApp.post(JOBS_URL, jobOf(model_id, trajectory, FULL_CONFIG))
    const claimed = await claim(testApp)
    const stored = await testApp.deps.trainingJobs.findJob(job.id)
    expect(claimed).toEqual({
      id: job.id,
      attempt: 1,
      lease_token: expect.stringMatching(/^[\w-]{43}$/),
      lease_expires_at: expect.stringMatching(/Z$/),
      deadline_at: expect.stringMatching(/Z$/),
      heartbeat_seconds: 20,
      model: { id: model_id, entity: 'acme', project: 'demo', name: 'policy', base_model: 'tiny' },
      parent_checkpoint: null,
      resolved_config: {
        ...FULL_CONFIG,
        model_k2_tau: null,
        importance_sampling_level: 'sequence',
      },
      payload: {
        url: `${WORKER_URL}/jobs/${job.id}/payload`,
        sha256: stored?.payload_sha256,
        bytes: stored?.payload_bytes,
      },
      group_count: 1,
      trajectory_count: 1,
      trainable_count: 1,
      policy_lag: 0,
    })
    expect(stored?.lease_token_hash).toBe(sha256Of(claimed.lease_token))
  })

  it('takes null config fields for absent ones', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const nulls = Object.fromEntries(Object.keys(FULL_CONFIG).map((name) => [name, null]))
    const configs: unknown[] = []
    for (const config of [undefined, null, {}, nulls]) {
      await testApp.post(JOBS_URL, jobOf(model_id, TRAJECTORY, config))
      const claimed = await claim(testApp)
      configs.push(claimed.resolved_config)
      await finish(testApp, claimed)
    }
    expect(configs).toEqual(Array(4).fill(configs[0]))
    expect(configs[0]).toMatchObject({ epsilon: 1, epsilon_high: 4, learning_rate: 5e-6 })
  })

  it.each([
    [{ kimi_k2_tau: 0.5 }, 0.5],
    [{ kimi_k2_tau: 0.5, model_k2_tau: 0.25 }, 0.25],
    [{ kimi_k2_tau: 0.5, model_k2_tau: null }, 0.5],
    [{ kimi_k2_tau: 0 }, null],
  ])(
    'reads the other name of §2.12 experimental_config model_k2_tau in %j',
    async (config, tau) => {
      const testApp = await buildTestApp()
      await testApp.post(JOBS_URL, jobOf(await createModel(testApp), TRAJECTORY, config))
      const { resolved_config } = await claim(testApp)
      expect(resolved_config).toMatchObject({ model_k2_tau: tau })
      expect(resolved_config).not.toHaveProperty('kimi_k2_tau')
    },
  )

  it('answers 204 when there is nothing, at once', async () => {
    const testApp = await buildTestApp()
    const { status, text } = await tryClaim(testApp)
    expect([status, text]).toEqual([204, ''])
  })

  it('keeps the order of a model and runs one job at a time, and two models at once', async () => {
    const testApp = await buildTestApp()
    const first = await createJobs(testApp, 3)
    const second = await createJobs(testApp, 1, { name: 'second' })
    const [one, other] = [await claim(testApp), await claim(testApp)]
    expect([one.id, other.id]).toEqual([first.jobs[0], second.jobs[0]])
    expect((await tryClaim(testApp)).status).toBe(204)
    await finish(testApp, one)
    const next = await claim(testApp)
    expect(next.id).toBe(first.jobs[1])
    expect((await tryClaim(testApp)).status).toBe(204)
  })

  it('gives only base models that the worker names, and projects that its key may see', async () => {
    const testApp = await buildTestApp()
    await createJobs(testApp, 1)
    expect((await tryClaim(testApp, { base_models: ['large', 'larger'] })).status).toBe(204)
    const key = await testApp.createKey({ scopes: ['worker'], projects: ['acme/other'] })
    const foreign = await testApp.post(`${WORKER_URL}/claim`, CLAIM, { key })
    expect(foreign.status).toBe(204)
    const own = await testApp.createKey({ scopes: ['worker'], projects: ['acme/*'] })
    const answer = await testApp.post(`${WORKER_URL}/claim`, CLAIM, { key: own })
    expect(answer.status).toBe(200)
  })

  it('answers scope_missing for a key without the scope worker', async () => {
    const testApp = await buildTestApp()
    const key = await testApp.createKey({ scopes: ['training', 'inference'] })
    const { status, body } = await testApp.post(`${WORKER_URL}/claim`, CLAIM, { key })
    expect([status, body.error.code]).toEqual([403, 'scope_missing'])
  })

  it.each([
    ['base_models', []],
    ['base_models', 'tiny'],
    ['wait_seconds', 31],
    ['wait_seconds', -1],
    ['worker_id', ''],
    ['worker_version', null],
    ['other', 1],
  ])('refuses %s %j', async (field, value) => {
    const testApp = await buildTestApp()
    const { status, body } = await tryClaim(testApp, { [field]: value })
    expect([status, body.error.param]).toEqual([422, field])
  })
})

describe('the payload', () => {
  it('is what the client sent, also compressed, and only for the lease', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const groups = '[ {"trajectories":[],"note":1.50} ]'
    await testApp.post(JOBS_URL, `{"model_id":"${model_id}","trajectory_groups":${groups}}`)
    const { payload, lease_token } = await claim(testApp)
    const lease = { 'x-weft-lease': lease_token }
    const plain = await testApp.get(payload.url, { headers: lease })
    expect([plain.status, plain.text]).toEqual([200, groups])
    expect(plain.headers['x-weft-sha256']).toBe(sha256Of(groups))
    const authorization = `Bearer ${testApp.key}`
    const packed = await testApp.app.inject({
      url: payload.url,
      headers: { ...lease, authorization, 'accept-encoding': 'gzip' },
    })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).toString()).toBe(groups)
    for (const headers of [{ 'x-weft-lease': '' }, { 'x-weft-lease': 'other' }]) {
      const { status, body } = await testApp.get(payload.url, { headers })
      expect([status, body.error.code]).toEqual([409, 'lease_lost'])
    }
  })
})

describe('a worker that trains', () => {
  it('makes checkpoints that follow each other and carry who made them', async () => {
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

  it('shows the step in the list as soon as training_ended is shown', async () => {
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

  it('gets the same checkpoint for the same complete, artifact_conflict for another', async () => {
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

  it('cannot complete with an artifact that was not uploaded', async () => {
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

  it.each(['no_choice', 'no_logprobs', 'no_variance'])(
    'makes a step with the weights of the parent for %s, and says why',
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

  it('renews its lease and shows how far it is', async () => {
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
  it('refuses other bytes than the header says, too many, another type and a foreign lease', async () => {
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
  it('come once, in their order, behind a training_started of the server', async () => {
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

  it('keep the training_started of the worker', async () => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const sent = [started(7), GRADIENT].map((event, seq) => ({ seq, ...event }))
    await report(testApp, claimed, 'events', { events: sent })
    const events = await readEvents(testApp, jobs[0] ?? '')
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([started(7), GRADIENT])
  })

  it('of an attempt that was given up are hidden, and the reader goes on behind them', async () => {
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
    ['a negative seq', { seq: -1, ...GRADIENT }],
  ])('are refused with %s', async (_what, event) => {
    const testApp = await buildTestApp()
    const { jobs } = await createJobs(testApp, 1)
    const claimed = await claim(testApp)
    const { status, body } = await report(testApp, claimed, 'events', { events: [event] })
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(await readEvents(testApp, jobs[0] ?? '')).toEqual([])
  })
})

describe('a lease that is lost', () => {
  it('refuses every report of the late worker, which must not try again', async () => {
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

  it('three times ends the job as failed with a last event, and the next job runs', async () => {
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

  it('by a failure that will come again fails the job at once', async () => {
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

  it('by a failure that may pass waits before the next, and blocks its model meanwhile', async () => {
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

  it('by a release is repeated at once and does not count', async () => {
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

  it('by its time fails the job, however often it is renewed', async () => {
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
  it('fails after the queue timeout, and those behind it with it', async () => {
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
