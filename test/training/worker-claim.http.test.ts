/** Claims of workers, and the payloads of what they claim. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { createModel, FULL_CONFIG, JOBS_URL, jobOf, TRAJECTORY } from './preview-fixtures.ts'
import {
  CLAIM,
  claim,
  createJobs,
  finish,
  sha256Of,
  tryClaim,
  WORKER_URL,
} from './worker-fixtures.ts'

describe('POST /v1/preview/worker/claim', () => {
  it('a claim returns the oldest job with all its training needs', async () => {
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

  it('rollouts of another model have no policy lag', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const lags: unknown[] = []
    for (const model of ['other:step0', 'policy:step0', 'policy:step9']) {
      const initial_policy_version = Number(model.at(-1))
      const trajectory = { ...TRAJECTORY, initial_policy_version, metadata: { model } }
      await testApp.post(JOBS_URL, jobOf(model_id, trajectory))
      const claimed = await claim(testApp)
      lags.push(claimed.policy_lag)
      await finish(testApp, claimed)
    }
    expect(lags).toEqual([null, 1, null])
  })

  it('treats null config fields as absent', async () => {
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

  it('a claim without a job gets 204 at once', async () => {
    const testApp = await buildTestApp()
    const { status, text } = await tryClaim(testApp)
    expect([status, text]).toEqual([204, ''])
  })

  it('jobs of a model run in order and one at a time, and two models run at once', async () => {
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

  it('a claim gets only base models that the worker names, and projects of its key', async () => {
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

  it('a claim without the scope worker gets scope_missing', async () => {
    const testApp = await buildTestApp()
    const key = await testApp.createKey({ scopes: ['training', 'inference'] })
    const { status, body } = await testApp.post(`${WORKER_URL}/claim`, CLAIM, { key })
    expect([status, body.error.code]).toEqual([403, 'scope_missing'])
  })

  it('a worker whose key was revoked while it waited gets no job', async () => {
    const testApp = await buildTestApp()
    const key = await testApp.createKey({ scopes: ['worker'] })
    const waiting = testApp.post(`${WORKER_URL}/claim`, { ...CLAIM, wait_seconds: 20 }, { key })
    const listed = (await testApp.get('/v1/keys')).body.data
    const { id } = listed.findLast(({ scopes }: { scopes: string[] }) => scopes.length === 1)
    await testApp.app.inject({
      method: 'DELETE',
      url: `/v1/keys/${id}`,
      headers: { authorization: `Bearer ${testApp.key}` },
    })
    const { jobs } = await createJobs(testApp, 1)
    const { status, body } = await waiting
    expect([status, body.error?.code]).toEqual([401, 'invalid_api_key'])
    expect(await claim(testApp)).toMatchObject({ id: jobs[0], attempt: 1 })
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
  it('the payload is what the client sent, also compressed, and only for the lease', async () => {
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
