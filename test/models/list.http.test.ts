import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'

async function buildModelsApp() {
  const backend = createScriptedBackend(HELLO)
  const models = scriptedModels(
    { backend, id: 'org/big model', aliases: ['big', 'org/alias'] },
    { backend, id: 'small', ownedBy: 'someone' },
    { backend, id: 'x%2Fy' },
  )
  return buildTestApp({}, { models })
}

describe('GET /v1/models', () => {
  it('answers the §4.7 models list: §2.11 list object and §2.11 list data', async () => {
    const { get } = await buildModelsApp()
    const { status, body } = await get('/v1/models')
    expect(status).toBe(200)
    expect(body.object).toBe('list')
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([
      'org/big model',
      'small',
      'x%2Fy',
    ])
  })

  it.each([
    ['id', 'small'],
    ['object', 'model'],
    ['created', 1_700_000_000],
    ['owned_by', 'someone'],
    ['root', 'small'],
  ])('tells §2.11 %s of each model', async (field, value) => {
    const { get } = await buildModelsApp()
    const { body } = await get('/v1/models')
    expect(body.data[1][field]).toBe(value)
  })

  it('lists the embedded model when there is no models file, the same each time', async () => {
    const { get } = await buildTestApp({ modelsFile: '/nonexistent/models.json' })
    const { body } = await get('/v1/models')
    expect(body.data).toEqual([
      { id: 'tiny', object: 'model', created: 1_767_225_600, owned_by: 'weft', root: 'tiny' },
    ])
  })

  it.each(['/v1/models/', '/v1/models/small/'])('serves §9 trailing slash at %s', async (url) => {
    const { get } = await buildModelsApp()
    expect((await get(url)).status).toBe(200)
  })
})

describe('GET /v1/models/{id}', () => {
  it.each([
    ['/v1/models/small', 'small', 'small'],
    ['/v1/models/org/big%20model', 'org/big model', 'org/big model'],
    ['/v1/models/org%2Fbig%20model', 'org/big model', 'org/big model'],
    ['/v1/models/org%2fbig%20model', 'org/big model', 'org/big model'],
    ['/v1/models/big', 'big', 'org/big model'],
    ['/v1/models/org%2Falias', 'org/alias', 'org/big model'],
    ['/v1/models/x%252Fy', 'x%2Fy', 'x%2Fy'],
  ])('reads %s', async (url, id, root) => {
    const { get } = await buildModelsApp()
    const { status, body } = await get(url)
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      object: 'model',
      created: 1_700_000_000,
      owned_by: expect.any(String),
      root,
    })
  })

  it.each(['/v1/models/nope', '/v1/models/org', '/v1/models/x%2Fy', '/v1/models/SMALL'])(
    'answers 404 for %s',
    async (url) => {
      const { get } = await buildModelsApp()
      const { status, body } = await get(url)
      expect(status).toBe(404)
      expect(body.error).toMatchObject({ code: 'model_not_found', param: 'model' })
    },
  )
})

describe.each(['/v1/models', '/v1/models/small'])('GET %s', (url) => {
  it.each([
    ['no key', { key: null }, 401, 'missing_api_key'],
    ['a wrong key', { key: 'wk_nope' }, 401, 'invalid_api_key'],
    ['Basic credentials', { headers: { authorization: 'Basic YTpi' } }, 401, 'invalid_api_key'],
    ['a malformed project', { headers: { 'Compat-Project': 'acme' } }, 400, 'invalid_header'],
    [
      'a malformed project of the SDK',
      { headers: { 'OpenAI-Project': 'a/b/c' } },
      400,
      'invalid_header',
    ],
  ])('refuses %s', async (_name, options, status, code) => {
    const { get } = await buildModelsApp()
    const answer = await get(url, options)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })

  it('refuses a key without the scope', async () => {
    const { get, createKey } = await buildModelsApp()
    const { status, body } = await get(url, { key: await createKey({ scopes: ['traces:read'] }) })
    expect([status, body.error.code]).toEqual([403, 'scope_missing'])
  })

  it.each([
    ['acme/demo', 200],
    ['other/demo', 403],
  ])('lets a key of acme use the project %s: %i', async (project, expected) => {
    const { get, createKey } = await buildModelsApp()
    const key = await createKey({ projects: ['acme/*'] })
    expect((await get(url, { key, headers: { 'Compat-Project': project } })).status).toBe(expected)
  })
})
