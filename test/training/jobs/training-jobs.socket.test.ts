/** Large bodies over a real socket, where limits of size and time are those of the server. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openBodyFolder } from '../../../src/training/jobs/body-folder.ts'
import { INLINE_BYTES_MAX, LARGE_BODIES_MAX } from '../../../src/training/jobs/training-body.ts'
import {
  createTrainingBodyThread,
  optionsOfBodyThread,
} from '../../../src/training/jobs/training-body-thread.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { CHOICE, createModel, JOBS_URL, jobOf, TRAJECTORY } from '../preview-fixtures.ts'

const MIB = 1024 * 1024

/** What lies in the data directory of bodies on their way, and of payloads. */
function filesOf(dataDir: string) {
  const list = (name: string) => {
    const folder = join(dataDir, name)
    return existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : []
  }
  const payloads = list('training-payloads').filter((name) => name !== 'received')
  return { bodies: list('training-bodies'), payloads }
}

/** Groups of 40 MiB: long texts, and among them a choice with logprobs for each. */
function renderLargeGroups(): string {
  const said = { role: 'user', content: 'What is 2 + 2? "Four", said she.\n'.repeat(MIB / 32) }
  const trajectory = JSON.stringify({ messages_and_choices: [said, CHOICE], reward: 1 })
  const count = Math.ceil((40 * MIB) / trajectory.length)
  return `[{"trajectories":[${Array(count).fill(trajectory).join(',')}]}]`
}

it('a body of 40 MiB over a socket is stored whole', async () => {
  const dataDir = makeTempDir()
  const testApp = await buildTestApp({ dataDir, readThreads: 1 })
  const model_id = await createModel(testApp)
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const groups = renderLargeGroups()
  const response = await fetch(url + JOBS_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${testApp.key}`, 'content-type': 'application/json' },
    body: `{"model_id":"${model_id}","trajectory_groups":${groups}}`,
  })
  expect(response.status).toBe(200)
  const { id } = (await response.json()) as { id: string }
  const job = await testApp.deps.trainingJobs.findJob(id)
  expect(groups.length).toBeGreaterThanOrEqual(40 * MIB)
  expect(job?.payload_sha256).toBe(createHash('sha256').update(groups).digest('hex'))
  expect(statSync(join(dataDir, job?.payload_path ?? '')).size).toBe(groups.length)
  expect(filesOf(dataDir)).toEqual({ bodies: [], payloads: [`${id}.json`] })
})

it('a large body is read off the event loop: other requests are answered meanwhile', async () => {
  const dataDir = makeTempDir()
  const testApp = await buildTestApp({ dataDir, readThreads: 1 })
  const model_id = await createModel(testApp)
  const groups = renderLargeGroups()
  const thread = createTrainingBodyThread(optionsOfBodyThread(64 * MIB))
  onTestFinished(() => thread.close())
  const folder = openBodyFolder(dataDir)
  onTestFinished(folder.close)
  const body = await folder.stageBody()
  await body.write(Buffer.from(`{"model_id":"${model_id}","trajectory_groups":${groups}}`))
  await body.finish()
  let isRead = false
  const reading = thread.read(body).finally(() => {
    isRead = true
  })
  let answered = 0
  while (!isRead) {
    expect((await testApp.get('/health')).status).toBe(200)
    answered += 1
    // Lets the messages of the thread through.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await reading).toMatchObject({ model_id, group_count: 1 })
  expect(readFileSync(body.payloadFile, 'utf8') === groups).toBe(true)
  expect(answered).toBeGreaterThan(5)
})

it.each([
  ['a fault at its end', (text: string) => `${text.slice(0, -1)},"other":1}`, 422, 'other'],
  ['half of its text', (text: string) => text.slice(0, -10), 400, null],
])('a large body with %s is refused and leaves no file', async (_what, spoil, status, param) => {
  const dataDir = makeTempDir()
  const testApp = await buildTestApp({ dataDir, readThreads: 1 })
  const model_id = await createModel(testApp)
  const large = jobOf(model_id, { ...TRAJECTORY, logs: ['x'.repeat(MIB)] })
  const answer = await testApp.post(JOBS_URL, spoil(JSON.stringify(large)))
  expect([answer.status, answer.body.error.param]).toEqual([status, param])
  expect(filesOf(dataDir)).toEqual({ bodies: [], payloads: [] })
})

it('a client that disconnects within its body leaves no file', async () => {
  const dataDir = makeTempDir()
  const testApp = await buildTestApp({ dataDir, readThreads: 1 })
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const files = () => filesOf(dataDir).bodies.length
  const sending = request(url + JOBS_URL, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${testApp.key}`,
      'content-type': 'application/json',
      'content-length': 2 * MIB,
    },
  })
  sending.on('error', () => undefined)
  sending.write(Buffer.alloc(MIB, ' '))
  await expect.poll(() => files()).toBe(1)
  sending.destroy()
  await expect.poll(() => files()).toBe(0)
})

it('too many concurrent large bodies get server_overloaded', async () => {
  const testApp = await buildTestApp({ dataDir: makeTempDir(), readThreads: 1 })
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const large = Buffer.alloc(INLINE_BYTES_MAX + 1, ' ')
  const send = (length: number) => {
    const sending = request(url + JOBS_URL, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${testApp.key}`,
        'content-type': 'application/json',
        'content-length': length,
      },
    })
    sending.on('error', () => undefined)
    onTestFinished(() => void sending.destroy())
    sending.write(large)
    return sending
  }
  for (let at = 0; at < LARGE_BODIES_MAX; at++) send(large.length + 1)
  await expect.poll(() => filesOf(testApp.config.dataDir).bodies).toHaveLength(LARGE_BODIES_MAX)
  const refused = await new Promise<number | undefined>((resolve) => {
    send(large.length).on('response', ({ statusCode }) => resolve(statusCode))
  })
  expect(refused).toBe(503)
})

it('a body over the limit without content-length gets 413', async () => {
  const testApp = await buildTestApp({ trainingBodyBytesMax: 2048 })
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const chunks = Array.from({ length: 64 }, () => Buffer.alloc(1024, ' '))
  const response = await fetch(url + JOBS_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${testApp.key}`, 'content-type': 'application/json' },
    body: ReadableStream.from(chunks) as unknown as string,
    duplex: 'half',
  } as RequestInit)
  expect(response.status).toBe(413)
})

it('a key without the scope is refused before the body arrives', async () => {
  const testApp = await buildTestApp()
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const key = await testApp.createKey({ scopes: ['inference'] })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = request(url + JOBS_URL, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': 100 * MIB,
      },
    })
    sending.on('response', (response) => {
      resolve(response.statusCode)
      sending.destroy()
    })
    sending.on('error', reject)
    // The first byte only: the answer must not wait for the rest.
    sending.write('{')
  })
  expect(status).toBe(403)
})
