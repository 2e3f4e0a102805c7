import { expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { createModel, JOBS_URL, MODELS_URL, UNKNOWN_ID } from './preview-fixtures.ts'
import { claim, createJobs, readJob, WORKER_URL } from './worker-fixtures.ts'

it('a worker key with the lease token of a foreign job reads, reports and completes nothing of it', async () => {
  const testApp = await buildTestApp()
  const { jobs } = await createJobs(testApp, 1)
  const { id, lease_token } = await claim(testApp)
  const key = await testApp.createKey({ scopes: ['worker'], projects: ['acme/other'] })
  const askAll = async (job: string) => {
    const url = `${WORKER_URL}/jobs/${job}`
    const reports = {
      heartbeat: {},
      events: { events: [{ seq: 0, type: 'gradient_step', data: { loss: 1 } }] },
      complete: { metrics: {}, trained: false, reason: 'no_choice' },
      fail: { error: { code: 'x', message: 'x' }, retryable: false },
      release: {},
    }
    const answers = await Promise.all([
      ...Object.entries(reports).map(([name, fields]) =>
        testApp.post(`${url}/${name}`, { lease_token, ...fields }, { key }),
      ),
      ...['payload', 'parent-artifact'].map((name) =>
        testApp.get(`${url}/${name}`, { key, headers: { 'x-weft-lease': lease_token } }),
      ),
    ])
    const uploaded = await testApp.app.inject({
      method: 'PUT',
      url: `${url}/artifact`,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/octet-stream',
        'x-weft-lease': lease_token,
        'x-weft-sha256': '0'.repeat(64),
      },
      payload: 'x',
    })
    return [
      ...answers.map(({ status, text }) => [status, text]),
      [uploaded.statusCode, uploaded.body],
    ]
  }
  const foreign = await askAll(id)
  expect(foreign).toEqual(await askAll(UNKNOWN_ID))
  expect(foreign.map(([status]) => status)).toEqual(Array(8).fill(409))
  expect((await readJob(testApp, jobs[0] ?? '')).status).toBe('running')
})

it('a list after the id of a foreign model or job responds as after an unknown id', async () => {
  const testApp = await buildTestApp()
  const { model_id, jobs } = await createJobs(testApp, 1)
  await createModel(testApp, { project: 'other' })
  const key = await testApp.createKey({ projects: ['acme/other'] })
  for (const [url, id] of [
    [MODELS_URL, model_id],
    [JOBS_URL, jobs[0]],
  ]) {
    const foreign = await testApp.get(`${url}?after=${id}`, { key })
    const unknown = await testApp.get(`${url}?after=${UNKNOWN_ID}`, { key })
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect((await testApp.get(`${url}?after=${id}`)).status).toBe(200)
  }
})
