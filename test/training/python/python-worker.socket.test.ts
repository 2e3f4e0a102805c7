/** The example worker in Python against a real server: jobs, deaths, signals, cancels. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SpawnedServer, startServer, TEST_KEY } from '../../support/spawn-server.ts'
import { CHOICE, JOBS_URL, MODEL, MODELS_URL } from '../preview-fixtures.ts'
import { until, WORKER_URL } from '../worker-fixtures.ts'
import { hasPython, startPython } from './python-workers.ts'

/** Steps until it is told to stop; fails where the job's settings say so. */
const SLOW_TRAINER = `
import time

class Hopeless(Exception):
    code, retryable = "hopeless", False

def train(job, groups, parent, report):
    failure = job["resolved_config"].get("failure")
    if failure == "lasting":
        raise Hopeless("no attempt can do it")
    if failure == "passing" and job["attempt"] == 1:
        raise MemoryError
    if failure == "passing":
        return b"second", {}, None
    report.started(1000)
    while True:
        report.step(loss=0.5)
        time.sleep(0.05)
`
describe.skipIf(!hasPython)('examples/worker.py', { timeout: 60_000 }, () => {
  let server: SpawnedServer
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'weft-test-'))
    writeFileSync(join(folder, 'slow.py'), SLOW_TRAINER)
    server = await startServer({
      WEFT_DATA_DIR: join(folder, 'data'),
      WEFT_WORKER_LEASE_MS: '1500',
      WEFT_TRAINING_RETRY_MS: '10',
    })
  }, 60_000)
  afterAll(async () => {
    await server?.stop('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  const startSlow = (baseModel: string) =>
    startPython(server.url, baseModel, { trainer: 'slow:train', trainers: folder })

  async function ask(path: string, body?: object) {
    const response = await fetch(server.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    return { status: response.status, body: (await response.json()) as any }
  }

  async function makeModel(base_model: string): Promise<string> {
    const { body } = await ask(MODELS_URL, { ...MODEL, name: base_model, base_model })
    return body.id
  }

  /** Queues a job whose rollouts said one token each, with these rewards. */
  async function queue(model_id: string, rewards: readonly number[], config: object = {}) {
    const trajectories = rewards.map((reward, at) => {
      const logprobs = { content: [{ token: `t${at}`, logprob: Math.log(0.5) }] }
      const question = { role: 'user', content: '2 + 2?' }
      return { messages_and_choices: [question, { ...CHOICE, logprobs }], reward }
    })
    const trajectory_groups = [{ trajectories }]
    const job = { model_id, trajectory_groups, experimental_config: config }
    const { status, body } = await ask(JOBS_URL, job)
    expect(status).toBe(200)
    return body.id as string
  }

  const waitFor = (job: string, holds: (job: { status: string; attempt: number }) => boolean) =>
    until(async () => (await ask(`${JOBS_URL}/${job}`)).body, holds)
  const waitForStep = (job: string) =>
    until(
      async () => (await ask(`${JOBS_URL}/${job}/events`)).body.data,
      (events) => events.some(({ type }: { type: string }) => type === 'gradient_step'),
    )

  it('examples/worker.py trains jobs in order, each from the previous artifact', async () => {
    const model = await makeModel('example')
    await queue(model, [1, 0], { learning_rate: 1, scale_rewards: false })
    await queue(model, [1, 1])
    const last = await queue(model, [0, 1], { learning_rate: 0.5, scale_rewards: false })
    const worker = startPython(server.url, 'example')
    expect((await waitFor(last, ({ status }) => status === 'succeeded')).status).toBe('succeeded')
    const { data } = (await ask(`${MODELS_URL}/${model}/checkpoints`)).body
    expect(data.map(({ step }: { step: number }) => step)).toEqual([1, 2, 3])
    expect(data[0].metrics).toMatchObject({ reward: 0.5, num_groups_trainable: 1, loss: 0 })
    expect(data[1].metrics).toMatchObject({ reward: 1, num_groups_trainable: 0 })
    // Advantages of 1/2 and -1/2, weighed by 1/2 for two rollouts and by 1 - p = 1/2 for each token.
    expect((await ask(`${MODELS_URL}/${model}/checkpoints/1/artifact`)).body).toEqual({
      token_bias: { t0: 0.125, t1: -0.125 },
    })
    expect((await ask(`${MODELS_URL}/${model}/checkpoints/3/artifact`)).body).toEqual({
      token_bias: { t0: 0.0625, t1: -0.0625 },
    })
    const events = (await ask(`${JOBS_URL}/${last}/events`)).body.data
    expect(events.map(({ type }: { type: string }) => type)).toEqual([
      'training_started',
      'gradient_step',
      'training_ended',
    ])
    expect(worker.told()).toContain('step 3')
  })

  it('examples/worker.py trains on exchanges, and reads an absent reward as 0 and an absent list as empty', async () => {
    const model_id = await makeModel('sparse')
    startPython(server.url, 'sparse')
    const choiceOf = (token: string) => ({
      ...CHOICE,
      logprobs: { content: [{ token, logprob: Math.log(0.5) }] },
    })
    const rollout = (token: string) => ({
      exchanges: {
        chat_completions: [{ request: { messages: [] }, response: { choices: [choiceOf(token)] } }],
      },
    })
    const trajectories = [{ ...rollout('t0'), reward: 1 }, rollout('t1'), {}]
    const job = { model_id, trajectory_groups: [{ trajectories }, {}] }
    const { body } = await ask(JOBS_URL, job)
    const ended = await waitFor(body.id, ({ status }) => status === 'succeeded')
    expect(ended).toMatchObject({ attempt: 1 })
    const { token_bias } = (await ask(`${MODELS_URL}/${model_id}/checkpoints/1/artifact`)).body
    expect(Object.keys(token_bias)).toEqual(['t0', 't1'])
  })

  it('examples/worker.py trains on rewards of any size', async () => {
    const model = await makeModel('large')
    startPython(server.url, 'large', { trainer: 'token_table:train' })
    const large = 1.7e308
    for (const rewards of [
      [large, large],
      [1e155, 0],
      [large, -large],
    ]) {
      const ended = await waitFor(
        await queue(model, rewards),
        ({ status }) => status === 'succeeded',
      )
      expect(ended).toMatchObject({ attempt: 1 })
    }
    const { data } = (await ask(`${MODELS_URL}/${model}/checkpoints`)).body
    const found = data.map(({ metrics }: { metrics: { num_groups_trainable: number } }) => metrics)
    expect(found).toMatchObject([
      { reward: large, num_groups_trainable: 0 },
      { reward: 5e154, num_groups_trainable: 1 },
      { reward: 0, num_groups_trainable: 1 },
    ])
    const unscaled = await queue(model, [large, -large, -large, -large], { scale_rewards: false })
    const failed = await waitFor(unscaled, ({ status }) => status === 'failed')
    expect(failed).toMatchObject({ attempt: 1, error: { code: 'invalid_data' } })
  })

  it('a second examples/worker.py takes over the job of a killed one', async () => {
    const job = await queue(await makeModel('killed'), [1, 0])
    const victim = startSlow('killed')
    await waitForStep(job)
    victim.child.kill('SIGKILL')
    await victim.ended
    startPython(server.url, 'killed')
    expect(await waitFor(job, ({ status }) => status === 'succeeded')).toMatchObject({ attempt: 2 })
    const events = (await ask(`${JOBS_URL}/${job}/events`)).body.data
    expect(events).toHaveLength(3)
  })

  it('examples/worker.py releases its job at SIGTERM and SIGINT', async () => {
    const jobs = new Map<NodeJS.Signals, string>()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      jobs.set(signal, await queue(await makeModel(signal), [1, 0]))
    }
    const stopped = [...jobs].map(async ([signal, job]) => {
      const worker = startSlow(signal)
      await waitForStep(job)
      worker.child.kill(signal)
      await worker.ended
      expect([signal, worker.child.exitCode]).toEqual([signal, 0])
      // At once, and not when its lease ends.
      const { body } = await ask(`${JOBS_URL}/${job}`)
      expect([body.status, body.error]).toEqual(['queued', null])
      // The attempt does not count: two others may fail before the last one.
      for (const times of [1, 2]) {
        const names = { worker_id: 'w', worker_version: '1', base_models: [signal] }
        const claimed = await ask(`${WORKER_URL}/claim`, { ...names, wait_seconds: 30 })
        const { id, lease_token } = claimed.body
        const error = { code: 'no_luck', message: 'No luck.' }
        const end = { lease_token, error, retryable: true }
        const failed = await ask(`${WORKER_URL}/jobs/${id}/fail`, end)
        expect([times, failed.body]).toEqual([times, { status: 'queued' }])
      }
    })
    await Promise.all(stopped)
  })

  it('examples/worker.py stops a cancelled job and claims the next', async () => {
    const model = await makeModel('cancelled')
    const job = await queue(model, [1, 0])
    const worker = startSlow('cancelled')
    await waitForStep(job)
    await ask(`${JOBS_URL}/${job}/cancel`, {})
    await waitFor(job, ({ status }) => status === 'cancelled')
    const next = await queue(model, [1, 0], { failure: 'passing' })
    expect(await waitFor(next, ({ status }) => status === 'succeeded')).toMatchObject({
      attempt: 2,
    })
    const hopeless = await queue(model, [1, 0], { failure: 'lasting' })
    expect(await waitFor(hopeless, ({ status }) => status === 'failed')).toMatchObject({
      attempt: 1,
      error: { code: 'hopeless', message: 'no attempt can do it' },
    })
    expect(worker.told()).toContain(`job ${job}, attempt 1: is given back`)
  })

  it('examples/worker.py exits when its key is refused or missing', async () => {
    const refused = startPython(server.url, 'refused', { key: 'wk_no_key_of_this_server' })
    const keyless = startPython(server.url, 'refused', { key: '' })
    await Promise.all([refused.ended, keyless.ended])
    expect([refused.child.exitCode, keyless.child.exitCode]).toEqual([1, 1])
    expect(refused.told()).toMatch(/^waits for .*\nThe server refuses this worker: 401 .*\n$/)
    expect(keyless.told()).toBe('Set WEFT_WORKER_KEY to a key with the scope worker.\n')
  })

  it.each([
    ['127.0.0.1:8080', '', '--server 127.0.0.1:8080 must begin with http:// or https://.'],
    ['http://127.0.0.1:9', 'my_trainer', '--train my_trainer must be MODULE:FUNCTION, such as'],
    ['http://127.0.0.1:9', 'nowhere:train', '--train nowhere:train: there is no nowhere.py'],
    ['http://127.0.0.1:9', 'token_table:teach', 'token_table has no function teach.'],
  ])(
    'examples/worker.py exits with the fault of its arguments: %s %s',
    async (address, trainer, told) => {
      const worker = startPython(address, 'refused', { trainer })
      await worker.ended
      expect(worker.child.exitCode).toBe(1)
      expect(worker.told()).toContain(told)
      expect(worker.told().split('\n')).toHaveLength(2)
    },
  )
})
