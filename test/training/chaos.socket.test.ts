/**
 * Many workers that die and come too late, against one queue: no job is completed twice, none is lost, and the
 * jobs of each model keep their order. CHAOS_JOBS makes the run longer.
 */
import { expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { createModel, JOBS_URL, jobOf, MODELS_URL } from './preview-fixtures.ts'
import { readEvents, readJob, until } from './worker-fixtures.ts'
import { startWorker, type WorkerProcess } from './worker-processes.ts'

const JOBS = Number(process.env.CHAOS_JOBS ?? 200)
const MODELS = 20
const WORKERS = 8
const LEASE_MS = 1000

it(`completes ${JOBS} jobs once each, in order, by workers that die and are late`, {
  timeout: 60_000 + JOBS * 200,
}, async () => {
  const training = { leaseMs: LEASE_MS, wallMs: 60_000, retryMs: 20, queueTimeoutMs: 0 }
  const testApp = await buildTestApp({ training })
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const queues: { model_id: string; jobs: string[] }[] = []
  for (let at = 0; at < MODELS; at++) {
    queues.push({ model_id: await createModel(testApp, { name: `m${at}` }), jobs: [] })
  }
  for (let at = 0; at < JOBS; at++) {
    const queue = queues[at % MODELS]!
    queue.jobs.push((await testApp.post(JOBS_URL, jobOf(queue.model_id))).body.id)
  }

  let isOver = false
  let seed = 1
  const started: WorkerProcess[] = []
  onTestFinished(() => {
    isOver = true
  })
  /** Keeps one worker running, and replaces it when it dies. */
  const keepRunning = (name: string) => {
    seed += 1
    const settings = { url, key: testApp.key, id: `${name}-${seed}`, seed }
    const chaos = { deaths: 0.04, delays: 0.06, delayMs: LEASE_MS * 1.5 }
    const worker = startWorker({ ...settings, ...chaos })
    started.push(worker)
    void worker.ended.then(() => {
      if (!isOver) keepRunning(name)
    })
  }
  for (let at = 0; at < WORKERS; at++) keepRunning(`w${at}`)

  const hasUnfinished = async () => {
    for (const status of ['running', 'queued']) {
      const { body } = await testApp.get(`${JOBS_URL}?status=${status}&limit=1`)
      if (body.data.length > 0) return true
    }
    return false
  }
  await until(
    () => new Promise<boolean>((resolve) => setTimeout(() => resolve(hasUnfinished()), 100)),
    (isUnfinished) => !isUnfinished,
  )
  isOver = true

  const lines = started.flatMap((worker) => worker.lines)
  const completions = lines.filter(({ completed, status }) => completed && status === 200)
  const late = lines.filter(({ completed, status }) => completed && status === 409)
  // The test proves nothing if no worker died or was late.
  expect(started.length).toBeGreaterThan(WORKERS)
  expect(late.length).toBeGreaterThan(0)
  expect(new Set(completions.map(({ completed }) => completed)).size).toBe(completions.length)

  let failures = 0
  for (const { model_id, jobs } of queues) {
    const { body } = await testApp.get(`${MODELS_URL}/${model_id}/checkpoints?limit=100`)
    const made: string[] = []
    for (const { step } of body.data) {
      const detail = await testApp.get(`${MODELS_URL}/${model_id}/checkpoints/${step}`)
      made.push(detail.body.job_id)
    }
    const succeeded: string[] = []
    for (const id of jobs) {
      const job = await readJob(testApp, id)
      const last = (await readEvents(testApp, id, 100)).at(-1)
      if (job.status === 'succeeded') {
        succeeded.push(id)
        expect(last?.type).toBe('training_ended')
      } else {
        failures += 1
        expect([job.status, job.attempt, last?.type]).toEqual(['failed', 3, 'training_failed'])
      }
    }
    // One checkpoint for each job that succeeded, and their steps in the order of the jobs.
    expect(made).toEqual(succeeded)
    expect(body.data.map(({ step }: { step: number }) => step)).toEqual(
      succeeded.map((_, at) => at + 1),
    )
  }
  expect(failures).toBeLessThan(JOBS / 2)
})
