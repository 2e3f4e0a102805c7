import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { createModel, MODEL, MODELS_URL, UUID } from '../training/preview-fixtures.ts'

describe('POST /v1/preview/models', () => {
  itRefusesBadRequests({ url: MODELS_URL, body: MODEL, scope: 'training', allow: 'GET, POST' })

  describe('200', () => {
    it('makes the model of §2.12 model_id and answers exactly its fields', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post(MODELS_URL, MODEL)
      expect(status).toBe(200)
      expect(body).toEqual({ ...MODEL, id: expect.stringMatching(UUID), run_id: null })
    })

    it.each([null, undefined])('takes the user of the key as the entity for %s', async (entity) => {
      const { post, createKey } = await buildTestApp()
      const key = await createKey({ projects: ['u-1/*'] })
      const { status, body } = await post(MODELS_URL, { ...MODEL, entity }, { key })
      expect([status, body.entity]).toEqual([200, 'u-1'])
    })

    it('answers the existing model with return_existing', async () => {
      const testApp = await buildTestApp()
      const id = await createModel(testApp)
      const { status, body } = await testApp.post(MODELS_URL, { ...MODEL, return_existing: true })
      expect([status, body.id]).toEqual([200, id])
    })

    it('makes the model with return_existing when there is none', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post(MODELS_URL, { ...MODEL, return_existing: true })
      expect([status, body.name]).toEqual([200, MODEL.name])
    })

    it('distinguishes the same name in other projects and entities', async () => {
      const testApp = await buildTestApp()
      const ids = [
        await createModel(testApp),
        await createModel(testApp, { project: 'other' }),
        await createModel(testApp, { entity: 'other' }),
        await createModel(testApp, { name: 'Policy' }),
      ]
      expect(new Set(ids).size).toBe(4)
    })

    it('makes one model of a name that many ask for at once', async () => {
      const { post } = await buildTestApp()
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => post(MODELS_URL, { ...MODEL, return_existing: true })),
      )
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    })
  })

  describe('409', () => {
    it('answers model_conflict, not to be tried again, for a taken name', async () => {
      const testApp = await buildTestApp()
      await createModel(testApp)
      const { status, body, headers } = await testApp.post(MODELS_URL, MODEL)
      expect([status, body.error.code, body.error.param]).toEqual([409, 'model_conflict', 'name'])
      expect(headers['x-should-retry']).toBe('false')
    })

    it('answers model_conflict when the existing model has another base', async () => {
      const testApp = await buildTestApp()
      const id = await createModel(testApp)
      const other = { ...MODEL, base_model: 'other', return_existing: true }
      const { status, body, headers } = await testApp.post(MODELS_URL, other)
      expect([status, body.error.code]).toEqual([409, 'model_conflict'])
      expect(body.error.param).toBe('base_model')
      expect(headers['x-should-retry']).toBe('false')
      const again = await testApp.post(MODELS_URL, { ...MODEL, return_existing: true })
      expect(again.body).toMatchObject({ id, base_model: MODEL.base_model })
    })
  })

  describe('403', () => {
    it.each([['acme/other'], ['other/*'], ['u-1/*']])(
      'answers project_forbidden to a key for %s, also when the model exists',
      async (pattern) => {
        const testApp = await buildTestApp()
        const key = await testApp.createKey({ projects: [pattern] })
        const first = await testApp.post(MODELS_URL, MODEL, { key })
        expect([first.status, first.body.error.code]).toEqual([403, 'project_forbidden'])
        await createModel(testApp)
        const existing = { ...MODEL, return_existing: true }
        const second = await testApp.post(MODELS_URL, existing, { key })
        expect([second.status, second.body.error.code]).toEqual([403, 'project_forbidden'])
      },
    )

    it('answers project_forbidden when the user of the key is no project of the key', async () => {
      const { post, createKey } = await buildTestApp()
      const key = await createKey({ projects: ['acme/*'] })
      const { status, body } = await post(MODELS_URL, { ...MODEL, entity: null }, { key })
      expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
    })
  })

  describe('422', () => {
    const long = 'x'.repeat(257)
    const wrong: Record<string, readonly unknown[]> = {
      entity: [1, '', 'a/b', 'a:b', ' a', `a${'x'.repeat(128)}`, {}, []],
      project: [undefined, null, 1, '', 'a/b', 'a%b', 'x'.repeat(129)],
      name: [undefined, null, 1, '', 'a b', 'a/b', 'ü', 'a:step1', 'x'.repeat(129), 'a\n'],
      base_model: [undefined, null, 1, '', 'a\u0000b', long],
      return_existing: ['true', 1, null],
      unknown: [1],
    }
    it.each(Object.entries(wrong))(
      'refuses a wrong %s and stores nothing',
      async (field, values) => {
        const testApp = await buildTestApp()
        for (const value of values) {
          const { status, body } = await testApp.post(MODELS_URL, { ...MODEL, [field]: value })
          expect([status, body.error.code, body.error.param, value]).toEqual([
            422,
            'validation_failed',
            field,
            value,
          ])
        }
        await createModel(testApp)
      },
    )

    it.each(['null', '[]', '1', '""', ''])('refuses the body %s', async (text) => {
      const { post } = await buildTestApp()
      const { status } = await post(MODELS_URL, text)
      expect(status === 422 || status === 400).toBe(true)
    })

    it('asks for the entity when the user of the key cannot be one', async () => {
      const { post, deps } = await buildTestApp()
      const { secret: key } = await deps.keys.createKey({
        svc_user_id: 'a/b',
        svc_username: 'A',
        scopes: ['training'],
        projects: ['*'],
      })
      const { status, body } = await post(MODELS_URL, { ...MODEL, entity: null }, { key })
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_failed',
        'entity',
      ])
    })
  })

  it('answers request_too_large for a body over the general limit', async () => {
    const { post } = await buildTestApp({ bodyBytesMax: 1024 })
    const { status, body } = await post(MODELS_URL, { ...MODEL, base_model: 'x'.repeat(2000) })
    expect([status, body.error.code]).toEqual([413, 'request_too_large'])
  })
})
