import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const VERSION = expect.stringMatching(/^\d+\.\d+\.\d+/)

it.each([
  ['/health', { status: 'ok' }],
  ['/traces/health', { status: 'ok' }],
  ['/version', { version: VERSION }],
  ['/traces/version', { version: VERSION }],
  [
    '/traces/server_info',
    { min_required_weave_python_version: '0.0.1', trace_server_version: VERSION },
  ],
])('GET %s responds with and without credentials', async (path, expected) => {
  const { get } = await buildTestApp()
  for (const options of [{}, { key: null }, { key: 'wk_wrong' }]) {
    const { status, body } = await get(path, options)
    expect([status, body]).toEqual([200, expected])
  }
})

it('names the right address to an SDK whose address lacks /traces', async () => {
  const { get } = await buildTestApp()
  const { status, body } = await get('/server_info')
  expect([status, body.error.message]).toEqual([
    404,
    expect.stringContaining('/traces/server_info'),
  ])
})

describe('POST /graphql', () => {
  const PROJECT =
    'query Project($name: String!, $entityName: String!) {\n project(name: $name, entityName: $entityName) { name } }'
  const UPSERT =
    'mutation UpsertModel($name: String!, $id: String, $entity: String!) { upsertModel(input: {id: $id, name: $name, entityName: $entity}) { model { name description } } }'
  const VIEWER = 'query DefaultEntity { viewer { username defaultEntity { name } } }'

  it('POST /graphql runs the three operations', async () => {
    const { post } = await buildTestApp()
    const variables = { name: 'demo', entityName: 'acme' }
    expect((await post('/graphql', { query: PROJECT, variables })).body).toEqual({
      data: { project: { name: 'demo' } },
    })
    const upsert = { query: UPSERT, variables: { name: 'demo', entity: 'acme', extra: null } }
    expect((await post('/graphql', { ...upsert, operationName: 'UpsertModel' })).body).toEqual({
      data: { upsertModel: { model: { name: 'demo', description: null } } },
    })
    expect((await post('/graphql', { query: VIEWER, variables: {} })).body).toEqual({
      data: { viewer: { username: 'User One', defaultEntity: { name: 'default' } } },
    })
  })

  it('POST /graphql shows only the projects of the key', async () => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ projects: ['beta/*'], scopes: ['traces:write'] })
    const variables = { name: 'demo', entityName: 'acme' }
    const project = await post('/graphql', { query: PROJECT, variables }, { key })
    expect(project.body).toEqual({ data: { project: null } })
    const upsert = { query: UPSERT, variables: { name: 'demo', entity: 'acme' } }
    const made = await post('/graphql', upsert, { key })
    expect([made.status, made.body]).toEqual([200, { data: null, errors: [expect.anything()] }])
    const viewer = await post('/graphql', { query: VIEWER }, { key })
    expect(viewer.body.data.viewer.defaultEntity).toEqual({ name: 'beta' })
  })

  it.each([
    '{ serverInfo { frontendHost } }',
    'query { artifact(name: "x") { id } }',
    '# viewer {viewer}\nquery Q { secret }',
    'nonsense',
    '',
  ])('POST /graphql responds GraphQL errors for %s', async (query) => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/graphql', { query })
    expect([status, body]).toEqual([200, { data: null, errors: [{ message: expect.any(String) }] }])
  })

  it.each([
    [PROJECT, { name: 'a/b', entityName: 'acme' }],
    [PROJECT, { name: { x: 1 }, entityName: ['acme'] }],
    [PROJECT, null],
  ])('POST /graphql finds no project for an invalid name', async (query, variables) => {
    const { post } = await buildTestApp()
    expect((await post('/graphql', { query, variables })).body).toEqual({ data: { project: null } })
  })

  it('POST /graphql requires credentials', async () => {
    const { post } = await buildTestApp()
    const none = await post('/graphql', { query: VIEWER }, { key: null })
    const wrong = await post('/graphql', { query: VIEWER }, { key: 'wk_wrong' })
    expect([none.body.error.code, wrong.body.error.code]).toEqual([
      'missing_api_key',
      'invalid_api_key',
    ])
  })

  it.each([
    ['query', {}],
    ['query', { query: 5 }],
    ['query', { query: 'x'.repeat(16_385) }],
    ['variables', { query: VIEWER, variables: [] }],
    ['operationName', { query: VIEWER, operationName: 5 }],
  ])('POST /graphql responds validation_failed for an invalid %s', async (param, body) => {
    const { post } = await buildTestApp()
    const response = await post('/graphql', body)
    expect([response.status, response.body.error.param]).toEqual([422, param])
  })
})
