/** Checkpoints that answer chats: names, listings, and weights that stay with their requests. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import { writeArtifact } from '../../src/inference/tiny/lora/artifact.ts'
import { loadModel } from '../../src/inference/tiny/model/model.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { createModel, JOBS_URL, jobOf, MODEL, MODELS_URL } from '../training/preview-fixtures.ts'
import { randomAdapter } from '../training/worker/training-fixtures.ts'
import { claim, finish } from '../training/worker-fixtures.ts'

const TINY = loadModel(readFileSync(TINY_MODEL_PATH))
const CHAT_URL = '/v1/chat/completions'
const QUESTION = [{ role: 'user', content: 'What is 3 plus 4?' }]
/** Greedy, so that an answer depends on the weights alone. */
const ASK = { messages: QUESTION, temperature: 0, max_tokens: 12, return_token_ids: true }

/** The file of an adapter that changes the model beyond recognition; another one for each seed. */
function artifactOf(seed: number): Buffer {
  const adapter = randomAdapter(TINY, 2, seed)
  return Buffer.from(writeArtifact({ adapter, optimizer: null }, TINY.shape, 'tiny'))
}

/** Lets a worker make the next checkpoint of a model. */
async function train(testApp: TestApp, model_id: string, seed: number): Promise<void> {
  expect((await testApp.post(JOBS_URL, jobOf(model_id))).status).toBe(200)
  await finish(testApp, await claim(testApp), artifactOf(seed))
}

const ask = (testApp: TestApp, model: string, options = {}) =>
  testApp.post(CHAT_URL, { ...ASK, model }, options)

const idsOf = ({ body }: Awaited<ReturnType<typeof ask>>) => body.choices[0].token_ids

describe('chat with a trained model', () => {
  it('answers §4.3 model by name with the newest step, by name and step with that one', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    const base = await ask(testApp, 'tiny')
    const before = await ask(testApp, 'policy')
    expect([before.body.model, idsOf(before)]).toEqual(['policy:step0', idsOf(base)])

    await train(testApp, model_id, 1)
    const first = await ask(testApp, 'policy')
    expect(first.body.model).toBe('policy:step1')
    expect(first.headers['x-weft-backend']).toBe('policy:step1')
    expect(idsOf(first)).not.toEqual(idsOf(base))

    await train(testApp, model_id, 101)
    const second = await ask(testApp, 'policy')
    expect(second.body.model).toBe('policy:step2')
    expect(idsOf(second)).not.toEqual(idsOf(first))
    for (const name of ['policy:step1', 'any-scheme:///acme/demo/policy:step1']) {
      const pinned = await ask(testApp, name)
      expect([pinned.body.model, idsOf(pinned)]).toEqual(['policy:step1', idsOf(first)])
    }
    expect(idsOf(await ask(testApp, 'tiny'))).toEqual(idsOf(base))
  })

  it('keeps weights apart when requests of several steps run together', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    for (const seed of [1, 101, 201, 301, 401, 501]) await train(testApp, model_id, seed)
    // More steps than are held at once.
    const names = ['tiny', ...[1, 2, 3, 4, 5, 6].map((step) => `policy:step${step}`)]
    const alone = []
    for (const name of names) alone.push(idsOf(await ask(testApp, name)))
    const together = await Promise.all([...names, ...names].map((name) => ask(testApp, name)))
    expect(together.map(idsOf)).toEqual([...alone, ...alone])
  })

  it('keeps its weights when the checkpoint is deleted meanwhile', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await train(testApp, model_id, 1)
    const whole = idsOf(await ask(testApp, 'policy:step1'))
    const running = testApp.post(CHAT_URL, { ...ASK, model: 'policy', max_tokens: 12 })
    const deletion = await testApp.app.inject({
      method: 'DELETE',
      url: `${MODELS_URL}/${model_id}/checkpoints`,
      headers: { authorization: `Bearer ${testApp.key}` },
      payload: { steps: [1] },
    })
    expect(deletion.json().deleted_count).toBe(1)
    expect(idsOf(await running)).toEqual(whole)
    const gone = await ask(testApp, 'policy:step1')
    expect([gone.status, gone.body.error.code]).toEqual([404, 'model_not_found'])
    expect((await ask(testApp, 'policy')).body.model).toBe('policy:step0')
  })

  it.each(['policy:step7', 'policy:step01', 'policy:latest', 'w:///acme/other/policy', 'nothing'])(
    'answers 404 to %s',
    async (name) => {
      const testApp = await buildTestApp()
      await createModel(testApp)
      const { status, body } = await ask(testApp, name)
      expect([status, body.error.code, body.error.param]).toEqual([404, 'model_not_found', 'model'])
    },
  )

  it('is not found by callers who may not use its project', async () => {
    const testApp = await buildTestApp()
    await createModel(testApp)
    const key = await testApp.createKey({ projects: ['acme/other'] })
    expect((await ask(testApp, 'policy', { key })).status).toBe(404)
    expect((await ask(testApp, 'w:///acme/demo/policy', { key })).status).toBe(404)
    const { body } = await testApp.get('/v1/models', { key })
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['tiny'])
  })

  it('asks which project is meant when several have the name, unless the request says it', async () => {
    const testApp = await buildTestApp()
    await createModel(testApp)
    await createModel(testApp, { project: 'other' })
    const { status, body } = await ask(testApp, 'policy')
    expect([status, body.error.code]).toEqual([400, 'invalid_value'])
    expect(body.error.message).toContain('weave:///<entity>/<project>/policy')
    const headers = { 'openai-project': 'acme/other' }
    expect((await ask(testApp, 'policy', { headers })).status).toBe(200)
    expect((await ask(testApp, 'w:///acme/demo/policy')).status).toBe(200)
  })

  it('is refused with the reason when its base model is not served', async () => {
    const testApp = await buildTestApp()
    await createModel(testApp, { base_model: 'another' })
    const { status, body: refused } = await ask(testApp, 'policy')
    expect([status, refused.error.code]).toEqual([404, 'model_not_found'])
    expect(refused.error.message).toContain('`another`')
    const { body } = await testApp.get('/v1/models')
    expect(body.data).toHaveLength(1)
  })

  it('fails without affecting others when the file of its checkpoint is unusable', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await testApp.post(JOBS_URL, jobOf(model_id))
    await finish(testApp, await claim(testApp), 'no adapter at all')
    const { status, body } = await ask(testApp, 'policy')
    expect([status, body.error]).toEqual([
      422,
      {
        code: 'checkpoint_unusable',
        type: 'invalid_request_error',
        param: 'model',
        message: expect.stringMatching(
          /^The weights of the checkpoint cannot be served: .*archive/,
        ),
      },
    ])
    expect((await ask(testApp, 'tiny')).status).toBe(200)
  })
})

describe('trained models in the listing', () => {
  it('stand behind the others, by name and by step, newest first', async () => {
    const testApp = await buildTestApp()
    const model_id = await createModel(testApp)
    await train(testApp, model_id, 1)
    await train(testApp, model_id, 101)
    const { body } = await testApp.get('/v1/models')
    const [, ...trained] = body.data
    expect(trained.map(({ id, root }: { id: string; root: string }) => [id, root])).toEqual([
      ['policy', 'policy:step2'],
      ['policy:step2', 'policy:step2'],
      ['policy:step1', 'policy:step1'],
    ])
    for (const entry of trained) {
      expect(entry).toMatchObject({ object: 'model', owned_by: MODEL.entity, parent: 'tiny' })
    }
  })

  it('are read one by one under each of their names', async () => {
    const testApp = await buildTestApp()
    await createModel(testApp)
    const { status, body } = await testApp.get('/v1/models/w:%2F%2F%2Facme%2Fdemo%2Fpolicy')
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: 'w:///acme/demo/policy', root: 'policy:step0' })
    expect((await testApp.get('/v1/models/policy:step4')).status).toBe(404)
  })

  it('tells how one answers to admins of all projects alone', async () => {
    const testApp = await buildTestApp()
    await createModel(testApp)
    await ask(testApp, 'policy')
    const key = await testApp.createKey({ scopes: ['admin'], projects: ['acme/*'] })
    const listed = async (options = {}) => {
      const { data } = (await testApp.get('/v1/backends', options)).body
      return data.map(({ id }: { id: string }) => id)
    }
    expect(await listed()).toContain('policy:step0')
    expect(await listed({ key })).toEqual(['tiny'])
  })
})
