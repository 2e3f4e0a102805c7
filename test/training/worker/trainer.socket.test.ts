/** The built-in trainer in a real process: jobs come in over HTTP and leave as checkpoints. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readArtifact } from '../../../src/inference/tiny/lora/artifact.ts'
import {
  type SpawnedServer,
  spawnServer,
  startServer,
  TEST_KEY,
} from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { groupOf } from './training-fixtures.ts'

const QUESTION = 'Name an animal.'
const SHAPE = {
  vocab: 640,
  width: 128,
  layers: 3,
  heads: 4,
  kvHeads: 2,
  headSize: 32,
  hidden: 272,
  context: 2048,
  ropeBase: 10_000,
  epsilon: 1e-5,
}

const dataDir = mkdtempSync(join(tmpdir(), 'weft-test-'))
let server: SpawnedServer

beforeAll(async () => {
  server = await startServer({
    WEFT_DATA_DIR: dataDir,
    WEFT_TRAINER: 'on',
    // The trainer looks for a cancellation as often as it renews its lease.
    WEFT_WORKER_LEASE_MS: '6000',
  })
})
afterAll(async () => {
  await server.stop('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

function request(path: string, body?: unknown, url = server.url): Promise<Response> {
  return fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
async function send(path: string, body?: unknown, url = server.url): Promise<any> {
  const response = await request(path, body, url)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text)
}

async function createModel(name: string, url = server.url): Promise<string> {
  const wanted = { entity: 'acme', project: 'demo', name, base_model: 'tiny' }
  return (await send('/v1/preview/models', wanted, url)).id
}

/** Answers of the served model, all with different rewards, so that each has something to teach. */
async function rollOut(seed: number) {
  const messages = [{ role: 'user', content: QUESTION }]
  const { choices } = await send('/v1/chat/completions', {
    model: 'tiny',
    messages,
    n: 8,
    max_tokens: 4,
    seed,
    logprobs: true,
    return_tokens_as_token_ids: true,
  })
  const trajectories = choices.map((choice: object, place: number) => ({
    messages_and_choices: [...messages, choice],
    reward: place,
  }))
  return { trajectories }
}

async function createJob(model_id: string, group: unknown, config: unknown = null, url?: string) {
  const body = { model_id, trajectory_groups: [group], experimental_config: config }
  return (await send('/v1/preview/training-jobs', body, url)).id as string
}

/** Waits until the job is in one of the states. */
async function waitFor(job: string, states: readonly string[], url?: string) {
  for (;;) {
    const found = await send(`/v1/preview/training-jobs/${job}`, undefined, url)
    if (states.includes(found.status)) return found
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

async function eventsOf(job: string) {
  return (await send(`/v1/preview/training-jobs/${job}/events?limit=100`)).data
}

const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type)

/** Far more than is trained before the test is over: 30,000 tokens. */
const LONG = groupOf(
  QUESTION,
  Array.from({ length: 300 }, (_, i) => ({
    ids: Array.from({ length: 100 }, (_, place) => 3 + ((i * 31 + place * 7) % 600)),
    logprobs: [],
    reward: i,
  })),
)

it('a chain of jobs yields checkpoints that continue each other', {
  timeout: 60_000,
}, async () => {
  const model = await createModel('chain')
  for (const step of [1, 2]) {
    const job = await createJob(model, await rollOut(step), { learning_rate: 1e-3 })
    await waitFor(job, ['succeeded', 'failed'])
    const events = await eventsOf(job)
    expect(typesOf(events)).toEqual(['training_started', 'gradient_step', 'training_ended'])
    expect(events[0].data).toEqual({ num_sequences: 1 })
    expect(events[1].data).toMatchObject({ num_trajectories: 8, learning_rate: 1e-3 })
    // What the endpoint told of its tokens is what the trainer computes, so the first policy is its own.
    if (step === 1) expect(events[1].data.kl_div).toBeLessThan(1e-6)
    const artifact = await request(`/v1/preview/models/${model}/checkpoints/${step}/artifact`)
    const read = readArtifact(new Uint8Array(await artifact.arrayBuffer()), SHAPE)
    expect(read.optimizer?.metadata).toEqual({ step: String(step) })
    expect(read.adapter).toMatchObject({ rank: 8, alpha: 16 })
  }
  const { data } = await send(`/v1/preview/models/${model}/checkpoints`)
  expect(data.map(({ step }: { step: number }) => step)).toEqual([1, 2])
  expect(data[0].metrics).toMatchObject({ num_trajectories: 8, num_groups_trainable: 1 })
})

it('a job with nothing to learn ends with its reason, and one of another model as failed', async () => {
  const model = await createModel('faults')
  const { trajectories } = await rollOut(3)
  const equal = { trajectories: trajectories.map((one: object) => ({ ...one, reward: 1 })) }
  const idle = await createJob(model, equal)
  await waitFor(idle, ['succeeded', 'failed'])
  expect((await eventsOf(idle)).at(-1)).toMatchObject({ type: 'training_ended' })
  const wrong = groupOf(QUESTION, [
    { ids: [9_999], logprobs: [0], reward: 1 },
    { ids: [9_999], logprobs: [0], reward: 2 },
  ])
  const job = await createJob(model, wrong)
  const failed = await waitFor(job, ['succeeded', 'failed'])
  expect(failed).toMatchObject({ status: 'failed', attempt: 1 })
  expect((await eventsOf(job)).at(-1)).toMatchObject({
    type: 'training_failed',
    data: { error_message: expect.stringContaining('trajectory_groups[0].trajectories[0]') },
  })
})

it('a job cancelled while it runs is stopped', { timeout: 60_000 }, async () => {
  const model = await createModel('cancelled')
  const job = await createJob(model, LONG)
  await waitFor(job, ['running'])
  await send(`/v1/preview/training-jobs/${job}/cancel`, {})
  expect(await waitFor(job, ['cancelled', 'succeeded', 'failed'])).toMatchObject({
    status: 'cancelled',
  })
  expect((await eventsOf(job)).at(-1)).toMatchObject({ type: 'training_failed' })
})

it('the trainer continues in another thread after a large payload', {
  timeout: 60_000,
}, async () => {
  const model = await createModel('large')
  const group = await rollOut(3)
  const [first, ...others] = group.trajectories
  const large = { ...first, metadata: { note: 'x'.repeat(9 * 1024 * 1024) } }
  for (const trajectories of [[large, ...others], group.trajectories]) {
    const job = await createJob(model, { trajectories })
    expect(await waitFor(job, ['succeeded', 'failed'])).toMatchObject({ status: 'succeeded' })
  }
})

it("the trainer's lease is renewed during a long pass, and its job released when the server ends", {
  timeout: 60_000,
}, async () => {
  const { url, stop, output } = await spawnServer({
    WEFT_DATA_DIR: makeTempDir(),
    WEFT_TRAINER: 'on',
    WEFT_WORKER_LEASE_MS: '1500',
  })
  const model = await createModel('kept', url)
  const ids = Array.from({ length: 450 }, (_, place) => 3 + ((place * 7) % 600))
  const answers = [ids, [5]].map((tokens, reward) => ({ ids: tokens, logprobs: [], reward }))
  const slow = await createJob(model, groupOf(QUESTION, answers), null, url)
  const done = await waitFor(slow, ['succeeded', 'failed'], url)
  expect(done).toMatchObject({ status: 'succeeded', attempt: 1 })

  const job = await createJob(model, LONG, null, url)
  await waitFor(job, ['running'], url)
  expect(await stop()).toMatchObject({ code: 0 })
  expect(output().stdout).toMatch(/"route":"[^"]*\/release","status":200/)
})
