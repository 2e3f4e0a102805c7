import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import {
  createModel,
  expectNoJobs,
  FULL_CONFIG,
  FULL_TRAJECTORY,
  JOBS_URL,
  jobOf,
  TRAJECTORY,
  UNKNOWN_ID,
  UUID,
} from '../preview-fixtures.ts'

const PAYLOADS = 'training-payloads'

/** Names of the payloads, those on their way among them. */
function payloadsIn(dataDir: string): string[] {
  const names = readdirSync(join(dataDir, PAYLOADS), { recursive: true }).map(String)
  return names.filter((name) => name !== 'received')
}

async function storedJob({ deps }: TestApp, id: string) {
  const job = await deps.trainingJobs.findJob(id)
  if (job === null) throw new Error('the job is not stored')
  return job
}

describe('POST /v1/preview/training-jobs', () => {
  itRefusesBadRequests({
    url: JOBS_URL,
    body: jobOf(UNKNOWN_ID),
    scope: 'training',
    allow: 'GET, POST',
  })

  describe('200', () => {
    it('queues the §4.8 training job and answers its id and status', async () => {
      const testApp = await buildTestApp()
      const model_id = await createModel(testApp)
      const { status, body } = await testApp.post(JOBS_URL, jobOf(model_id))
      expect(status).toBe(200)
      expect(body).toEqual({
        id: expect.stringMatching(UUID),
        status: 'queued',
        model_id,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      })
    })

    it('queues the job for the model of §2.12 model_id in any case of its letters', async () => {
      const testApp = await buildTestApp()
      const model_id = await createModel(testApp)
      const { status, body } = await testApp.post(JOBS_URL, jobOf(model_id.toUpperCase()))
      expect([status, body.model_id]).toEqual([200, model_id])
    })

    it('keeps §2.12 trajectory_groups byte for byte in a file, apart from the row', async () => {
      const dataDir = makeTempDir()
      const testApp = await buildTestApp({ dataDir, readThreads: 1 })
      const model_id = await createModel(testApp)
      const groups = `[ {"trajectories":[${JSON.stringify(FULL_TRAJECTORY)}, {"reward":1.0e0,
        "messages_and_choices":[],"seed":12345678901234567890,"text":"\\u00fc ü 😀 \\\\\\" ]}"}],
        "exceptions":[{"type":"E","message":"m","traceback":"t"}],"2":0,"1":0} ]`
      const text = `{"trajectory_groups" : ${groups} , "model_id":"${model_id}"}`
      const { status, body } = await testApp.post(JOBS_URL, text)
      expect(status).toBe(200)
      const job = await storedJob(testApp, body.id)
      const bytes = readFileSync(join(dataDir, job.payload_path))
      expect(bytes.toString()).toBe(groups)
      expect(job.payload_bytes).toBe(bytes.length)
      expect(job.payload_sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
      expect(job.payload_path).toBe(join(PAYLOADS, `${body.id}.json`))
    })

    it('a job counts its groups, trajectories and trajectories with a choice', async () => {
      const testApp = await buildTestApp()
      const model_id = await createModel(testApp)
      const { body } = await testApp.post(JOBS_URL, {
        model_id,
        trajectory_groups: [
          { trajectories: [TRAJECTORY, { ...TRAJECTORY, messages_and_choices: [] }] },
          { trajectories: [] },
          { trajectories: [FULL_TRAJECTORY] },
        ],
      })
      await expect(storedJob(testApp, body.id)).resolves.toMatchObject({
        group_count: 3,
        trajectory_count: 3,
        trainable_count: 2,
        created_by: 'u-1',
        seq: 1,
        state: 'queued',
      })
    })

    it('keeps §2.12 experimental_config as it was sent, unknown keys too', async () => {
      const testApp = await buildTestApp()
      const model_id = await createModel(testApp)
      const { body } = await testApp.post(JOBS_URL, jobOf(model_id, TRAJECTORY, FULL_CONFIG))
      const job = await storedJob(testApp, body.id)
      expect(job.config_json).toBe(JSON.stringify(FULL_CONFIG))
    })

    it.each([null, undefined])(
      'stores no config for the §2.12 experimental_config %s',
      async (config) => {
        const testApp = await buildTestApp()
        const model_id = await createModel(testApp)
        const { body } = await testApp.post(JOBS_URL, jobOf(model_id, TRAJECTORY, config))
        expect((await storedJob(testApp, body.id)).config_json).toBeNull()
      },
    )

    it('the same body without an idempotency key queues a second job', async () => {
      const testApp = await buildTestApp()
      const model_id = await createModel(testApp)
      const other = await createModel(testApp, { name: 'other' })
      const seqs: number[] = []
      for (const id of [model_id, model_id, other]) {
        const { body } = await testApp.post(JOBS_URL, jobOf(id))
        seqs.push((await storedJob(testApp, body.id)).seq)
      }
      expect(seqs).toEqual([1, 2, 1])
    })

    it('a job and its payload persist over a restart', async () => {
      const dataDir = makeTempDir()
      const first = await buildTestApp({ dataDir, readThreads: 1 })
      const model_id = await createModel(first)
      const headers = { 'idempotency-key': 'once' }
      const { body } = await first.post(JOBS_URL, jobOf(model_id), { headers })
      const before = await storedJob(first, body.id)
      await first.app.close()
      await first.deps.close()
      const second = await buildTestApp({ dataDir, readThreads: 1 })
      await expect(storedJob(second, body.id)).resolves.toEqual(before)
      expect(existsSync(join(dataDir, before.payload_path))).toBe(true)
      const again = await second.post(JOBS_URL, jobOf(model_id), { headers })
      expect(again.body).toEqual(body)
    })
  })

  describe('Idempotency-Key', () => {
    const headers = { 'idempotency-key': 'key-1' }

    it('a repeated idempotency key and body returns the first job and stores one payload', async () => {
      const dataDir = makeTempDir()
      const testApp = await buildTestApp({ dataDir, readThreads: 1 })
      const body = jobOf(await createModel(testApp), TRAJECTORY, FULL_CONFIG)
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => testApp.post(JOBS_URL, body, { headers })),
      )
      const [first] = answers
      for (const answer of answers) expect([answer.status, answer.body]).toEqual([200, first?.body])
      expect(payloadsIn(dataDir)).toEqual([`${first?.body.id}.json`])
    })

    it.each([
      ['groups', jobOf('', { ...TRAJECTORY, reward: 2 })],
      ['config', jobOf('', TRAJECTORY, { ppo: true })],
    ])('an idempotency key with other %s gets idempotency_conflict', async (_what, other) => {
      const dataDir = makeTempDir()
      const testApp = await buildTestApp({ dataDir, readThreads: 1 })
      const model_id = await createModel(testApp)
      await testApp.post(JOBS_URL, jobOf(model_id), { headers })
      const answer = await testApp.post(JOBS_URL, { ...other, model_id }, { headers })
      expect([answer.status, answer.body.error.code]).toEqual([409, 'idempotency_conflict'])
      expect(answer.body.error.param).toBe('Idempotency-Key')
      expect(answer.headers['x-should-retry']).toBe('false')
      expect(payloadsIn(dataDir)).toHaveLength(1)
    })

    it('an idempotency key is separate for each model', async () => {
      const testApp = await buildTestApp()
      const first = await createModel(testApp)
      const second = await createModel(testApp, { name: 'second' })
      const one = await testApp.post(JOBS_URL, jobOf(first), { headers })
      const two = await testApp.post(JOBS_URL, jobOf(second), { headers })
      expect(two.status).toBe(200)
      expect(two.body.id).not.toBe(one.body.id)
    })

    it.each(['', ' ', 'a b', 'ü', 'x'.repeat(256)])(
      'idempotency key %j gets invalid_header and stores nothing',
      async (value) => {
        const testApp = await buildTestApp()
        const model_id = await createModel(testApp)
        const { status, body } = await testApp.post(JOBS_URL, jobOf(model_id), {
          headers: { 'idempotency-key': value },
        })
        expect([status, body.error.code, body.error.param]).toEqual([
          400,
          'invalid_header',
          'Idempotency-Key',
        ])
        await expectNoJobs(testApp, model_id)
      },
    )

    it('an idempotency key may have 255 visible characters', async () => {
      const testApp = await buildTestApp()
      const { status } = await testApp.post(JOBS_URL, jobOf(await createModel(testApp)), {
        headers: { 'idempotency-key': '~'.repeat(255) },
      })
      expect(status).toBe(200)
    })
  })

  describe('404', () => {
    it('a job of an unknown model gets model_not_found', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post(JOBS_URL, jobOf(UNKNOWN_ID))
      expect([status, body.error.code, body.error.param]).toEqual([
        404,
        'model_not_found',
        'model_id',
      ])
    })

    it("a job of a foreign project's model gets the response of an unknown model, and nothing is stored", async () => {
      const testApp = await buildTestApp()
      const model_id = await createModel(testApp)
      const key = await testApp.createKey({ projects: ['acme/other', 'demo/*'] })
      const foreign = await testApp.post(JOBS_URL, jobOf(model_id), { key })
      const unknown = await testApp.post(JOBS_URL, jobOf(UNKNOWN_ID), { key })
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
      await expectNoJobs(testApp, model_id)
    })
  })

  describe('413', () => {
    it('a body over the limit of training bodies gets request_too_large and stores nothing', async () => {
      const dataDir = makeTempDir()
      const testApp = await buildTestApp({ dataDir, readThreads: 1, trainingBodyBytesMax: 2048 })
      const model_id = await createModel(testApp)
      const big = jobOf(model_id, { ...TRAJECTORY, logs: ['x'.repeat(2048)] })
      const { status, body } = await testApp.post(JOBS_URL, big)
      expect([status, body.error.code]).toEqual([413, 'request_too_large'])
      expect(payloadsIn(dataDir)).toEqual([])
      await expectNoJobs(testApp, model_id)
    })

    it('a body over the general limit and under the limit of training bodies is accepted', async () => {
      const testApp = await buildTestApp({ bodyBytesMax: 1024, trainingBodyBytesMax: 8192 })
      const model_id = await createModel(testApp)
      const big = jobOf(model_id, { ...TRAJECTORY, logs: ['x'.repeat(2048)] })
      expect((await testApp.post(JOBS_URL, big)).status).toBe(200)
    })
  })
})
