/** Workers over real sockets and in real processes: waits, deaths, restarts of the server. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { createModel, JOBS_URL, jobOf, MODEL, MODELS_URL } from './preview-fixtures.ts'
import {
  CLAIM,
  type Claimed,
  claim,
  createJobs,
  finish,
  readEvents,
  readJob,
  SHORT_TRAINING,
  tryClaim,
  until,
  WORKER_URL,
} from './worker-fixtures.ts'
import { startWorker } from './worker-processes.ts'

async function listen(overrides = {}) {
  const testApp = await buildTestApp(overrides)
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const waitForJob = (signal?: AbortSignal) =>
    fetch(`${url}${WORKER_URL}/claim`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testApp.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CLAIM, wait_seconds: 30 }),
      ...(signal && { signal }),
    })
  const looks = vi.spyOn(testApp.deps.trainingQueue, 'claimJob')
  /** Resolves when the queue was looked at so often: a worker that waits has looked twice. */
  const looked = (times: number) =>
    until(
      async () => looks.mock.results.length,
      (count) => count >= times,
    )
  return { testApp, url, waitForJob, looked }
}

/** Calls the spawned server. */
async function send(server: string, method: string, path: string, body: object) {
  const response = await fetch(server + path, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  return { status: response.status, body: (await response.json()) as any }
}

it('a job goes to the worker that waits longest, as soon as it arrives', async () => {
  const { testApp, waitForJob, looked } = await listen()
  const first = waitForJob()
  await looked(2)
  const second = waitForJob()
  await looked(5)
  const one = await createJobs(testApp, 1)
  const answer = await first
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ id: one.jobs[0] })
  const two = await createJobs(testApp, 1, { name: 'second' })
  expect(await (await second).json()).toMatchObject({ id: two.jobs[0] })
})

it('a waiting worker gets the next job when the previous one has ended', async () => {
  const { testApp, waitForJob, looked } = await listen()
  const { jobs } = await createJobs(testApp, 2)
  const running = await claim(testApp)
  const next = waitForJob()
  await looked(3)
  await finish(testApp, running)
  expect(await (await next).json()).toMatchObject({ id: jobs[1] })
})

it('a disconnected worker gets no job', async () => {
  const { testApp, waitForJob, looked } = await listen()
  const leaving = new AbortController()
  const gone = waitForJob(leaving.signal).catch(() => 'left')
  await looked(2)
  leaving.abort()
  expect(await gone).toBe('left')
  const { server } = testApp.app
  await until(
    () => promisify(server.getConnections.bind(server))(),
    (connections) => connections === 0,
  )
  const { jobs } = await createJobs(testApp, 1)
  const { body } = await until(
    () => tryClaim(testApp),
    ({ status }) => status === 200,
  )
  expect(body.id).toBe(jobs[0])
})

it('waits end at once when the server stops', async () => {
  const { testApp, waitForJob, looked } = await listen({ drainTimeoutMs: 7_000 })
  const waiting = waitForJob()
  await looked(2)
  const closing = testApp.app.close()
  expect((await waiting).status).toBe(204)
  await closing
})

it('a waiting worker gets a job when the pause before its next attempt is over', async () => {
  const { testApp, waitForJob } = await listen({ training: { ...SHORT_TRAINING, retryMs: 20 } })
  const { jobs } = await createJobs(testApp, 1)
  await claim(testApp)
  const answer = (await (await waitForJob()).json()) as { id: string; attempt: number }
  expect([answer.id, answer.attempt]).toEqual([jobs[0], 2])
})

it('the job of a killed worker goes to another one, which makes one checkpoint', {
  timeout: 60_000,
}, async () => {
  const { testApp, url } = await listen({ training: { ...SHORT_TRAINING, leaseMs: 2000 } })
  const { model_id, jobs } = await createJobs(testApp, 1)
  const worker = startWorker({ url, key: testApp.key, id: 'victim', seed: 1, hangs: true })
  expect(await worker.first()).toMatchObject({ claimed: jobs[0], attempt: 1 })
  worker.child.kill('SIGKILL')
  await worker.ended
  const { body } = await until(
    () => tryClaim(testApp),
    ({ status }) => status === 200,
  )
  expect([body.id, body.attempt]).toEqual([jobs[0], 2])
  await finish(testApp, body)
  const list = await testApp.get(`${MODELS_URL}/${model_id}/checkpoints`)
  expect(list.body.data).toHaveLength(1)
})

it('a job whose workers are killed three times fails, and its events end', {
  timeout: 60_000,
}, async () => {
  const { testApp, url } = await listen({ training: SHORT_TRAINING })
  const { jobs } = await createJobs(testApp, 1)
  const job = jobs[0] ?? ''
  const victims = [1, 2, 3].map((seed) => {
    const settings = { url, key: testApp.key, id: `victim-${seed}`, seed, hangs: true }
    const worker = startWorker(settings)
    return worker.first().then((line) => {
      worker.child.kill('SIGKILL')
      return line
    })
  })
  const events = await until(
    () => readEvents(testApp, job),
    (seen) => seen.some(({ type }) => type === 'training_failed'),
  )
  const attempts = (await Promise.all(victims)).map(({ attempt }) => attempt)
  expect(attempts.sort()).toEqual([1, 2, 3])
  expect(events.at(-1)?.data.error_message).toEqual(expect.any(String))
  expect(await readJob(testApp, job)).toMatchObject({ status: 'failed', attempt: 3 })
})

it('leases persist over a kill of the server, and those of workers that died with it end', {
  timeout: 60_000,
}, async () => {
  const environment = { WEFT_DATA_DIR: makeTempDir(), WEFT_WORKER_LEASE_MS: '3000' }
  const first = await spawnServer(environment)
  // A base model that no trainer of the server's takes.
  const held = { ...CLAIM, base_models: ['held'] }
  const claims: Claimed[] = []
  for (const name of ['living', 'dead']) {
    const fields = { ...MODEL, name, base_model: 'held' }
    const { body: model } = await send(first.url, 'POST', MODELS_URL, fields)
    await send(first.url, 'POST', JOBS_URL, jobOf(model.id))
    claims.push((await send(first.url, 'POST', `${WORKER_URL}/claim`, held)).body)
  }
  const [living, dead] = claims
  await first.stop('SIGKILL')
  await until(
    async () => Date.now(),
    (now) => now > Date.parse(dead.lease_expires_at),
  )
  const second = await spawnServer(environment)
  const jobUrl = `${WORKER_URL}/jobs/${living.id}`
  const { lease_token } = living
  const beat = await send(second.url, 'POST', `${jobUrl}/heartbeat`, { lease_token })
  expect([beat.status, beat.body.cancel_requested]).toEqual([200, false])
  const done = await send(second.url, 'POST', `${jobUrl}/complete`, {
    lease_token,
    metrics: {},
    trained: false,
    reason: 'no_variance',
  })
  expect([done.status, done.body.checkpoint?.step]).toEqual([200, 1])
  const again = { ...held, wait_seconds: 30 }
  const { body } = await send(second.url, 'POST', `${WORKER_URL}/claim`, again)
  expect([body.id, body.attempt]).toEqual([dead.id, 2])
})

it('unreferenced files are removed at the start, and no others', async () => {
  const dataDir = makeTempDir()
  const first = await buildTestApp({ dataDir, readThreads: 1 })
  const { model_id, jobs } = await createJobs(first, 2)
  await finish(first, await claim(first))
  await first.app.close()
  await first.deps.close()
  const strays = [
    ['training-payloads', 'stray.json'],
    ['training-payloads', 'received', 'stray'],
    ['training-bodies', 'stray'],
    ['artifacts', 'received', 'stray'],
    ['artifacts', model_id, 'stray'],
    ['files', 'received', 'stray'],
    ['files', 'abc', 'stray'],
  ].map((parts) => join(dataDir, ...parts))
  mkdirSync(join(dataDir, 'files', 'abc'))
  mkdirSync(join(dataDir, 'training-bodies'))
  for (const path of strays) writeFileSync(path, 'stray')
  const second = await buildTestApp({ dataDir, readThreads: 1 })
  expect(strays.filter((path) => existsSync(path))).toEqual([])
  const payloads = jobs.map((id) => `${id}.json`).sort()
  expect(readdirSync(join(dataDir, 'training-payloads')).sort()).toEqual([...payloads, 'received'])
  const url = `${MODELS_URL}/${model_id}/checkpoints/1/artifact`
  expect((await second.get(url)).status).toBe(200)
  await createModel(second, { name: 'second' })
})
