import { expect, it } from 'vitest'
import { authorizationFor, buildTestApp } from '../support/build-test-app.ts'

it.each([
  ['/chat/completions', 'POST /v1/chat/completions'],
  ['/v1/v1/models', 'GET /v1/models'],
  ['/calls/start', 'POST /call/start'],
  ['/v1/preview/training_jobs', 'POST /v1/preview/training-jobs'],
  ['/traces/calls/strem_query', 'POST /traces/calls/stream_query'],
  ['/v1/preview/models/x/checkpoint', 'GET /v1/preview/models/{model_id}/checkpoints'],
])('an unknown address gets the known ones: %s', async (url, near) => {
  const { post } = await buildTestApp()
  const { status, body } = await post(url, {})
  expect([status, body.error.code]).toEqual([404, 'unknown_url'])
  expect(body.error.message).toContain(near)
  expect(body.error.message).toMatch(/ All routes are at \/docs\.$/)
})

it('an address unlike any route, or very long, gets no suggestion and is not repeated', async () => {
  const { get } = await buildTestApp()
  const unlike = await get('/zzzz-secret')
  expect(unlike.body.error.message).toBe(
    'There is nothing at this address. All routes are at /docs.',
  )
  const long = await get(`/${'x'.repeat(10_000)}`)
  expect([long.status, long.body.error.message]).toEqual([414, 'The address is too long.'])
})

it('the error of an unknown field lists the known ones, once', async () => {
  const { post } = await buildTestApp()
  const { status, body } = await post('/call/read', {
    project_id: 'a/b',
    id: 'x',
    ids: [],
    more: 1,
  })
  expect([status, body.error.param]).toEqual([422, 'ids'])
  expect(body.error.message).toBe(
    'ids is not a field; more is not a field of this object, which has project_id, id, include_costs, include_tree_usage, include_storage_size, include_total_storage_size',
  )
  const nested = await post('/call/start', {
    start: { project_id: 'a/b', op_name: 'x', started_at: '2026-01-01', attributes: {}, input: {} },
  })
  expect(nested.body.error.message).toMatch(/start\.input is not a field .* which has .*inputs/)
})

it('the error of a field that cannot be queried lists those that can', async () => {
  const { post } = await buildTestApp()
  const query = { $expr: { $eq: [{ $getField: 'input.a' }, { $literal: 1 }] } }
  const { body } = await post('/calls/stream_query', { project_id: 'a/b', query })
  expect(body.error.message).toMatch(/can be queried; these are: .*inputs/)
})

it.each([
  ['/me', '/v1/models', /^Basic/, 'as the password of HTTP Basic credentials'],
  ['/v1/models', '/me', /^Bearer/, 'as `Authorization: Bearer <key>`'],
])(
  'a valid key under the wrong scheme gets the right scheme: %s',
  async (url, other, scheme, expected) => {
    const { get, createKey } = await buildTestApp()
    const authorization = authorizationFor(other, await createKey({}))
    const { status, body, headers } = await get(url, { key: null, headers: { authorization } })
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key'])
    expect(body.error.message).toContain(expected)
    expect(headers['www-authenticate']).toMatch(scheme)
  },
)

it.each([
  [
    '/call/start',
    null,
    null,
    'No API key was given. This address takes the API key as the password',
  ],
  [
    '/v1/models',
    null,
    null,
    'No API key was given. This address takes the API key as `Authorization: Bearer <key>`, `x-api-key: <key>` or `x-goog-api-key: <key>`.',
  ],
  [
    '/v1/traces',
    null,
    null,
    'as `Authorization: Bearer <key>` or as the password of HTTP Basic credentials.',
  ],
  ['/me', `Basic ${btoa('wk_key:')}`, null, 'as the password of HTTP Basic credentials'],
  ['/call/start', undefined, '', 'The body must be an object, not null'],
  ['/call/start', undefined, "{'start': {}}", 'The body is not valid JSON (line 1 column 2).'],
  ['/call/start', undefined, '"secret', 'The body is not valid JSON'],
  ['/call/start', undefined, '{"start":[]}', 'start must be an object, not a list'],
  [
    '/calls/stats',
    undefined,
    '{"project_id":"a/b","start":"2026-01-31"}',
    'start must be an RFC 3339 date-time of the years 1900 to 2254, such as 2026-01-31T09:30:00Z',
  ],
  ['/call/read', undefined, '{"project_id":"a/b","id":true}', 'id must be a string, not true'],
  ['/call/start', undefined, '{"start":{"wb_user_id":"x"}}', '; tracing SDKs send to /traces'],
  [
    '/feedback/query',
    undefined,
    '{"project_id":"a/b","limit":100000}',
    'limit must be at most 10000',
  ],
])('a refusal says what would be accepted: %s', async (url, authorization, payload, expected) => {
  const { app, key } = await buildTestApp()
  const isRead = url === '/me' || url === '/v1/models'
  const credentials = authorization === undefined ? authorizationFor(url, key) : authorization
  const { body } = await app.inject({
    method: isRead ? 'GET' : 'POST',
    url,
    headers: {
      ...(credentials !== null && { authorization: credentials }),
      ...(!isRead && { 'content-type': 'application/json' }),
    },
    ...(payload !== null && { payload }),
  })
  expect(JSON.parse(body).error?.message ?? JSON.parse(body).message).toContain(expected)
})

it.each([
  [
    '/agents/search',
    { roles: ['', 'me'] },
    'roles[1] must be one of "", user, assistant, system, tool, tool_call, tool_result',
  ],
  ['/v2/a/b/eval_results/query', { filter_logic_operator: 'xor' }, 'must be one of and, or'],
  ['/cost/create', { costs: { m: { prompt_token_cost_unit: 'EUR' } } }, 'must be USD'],
  // A union: of the option that is meant.
  [
    '/call/update',
    { call_id: 'c', display_name: 5 },
    'display_name must be a string, not a number',
  ],
  [
    '/table/update',
    { base_digest: 'd', updates: [{ pop: { index: 'first' } }] },
    'updates[0].pop.index must be a number, not a string',
  ],
  [
    '/table/update',
    { base_digest: 'd', updates: [{ push: {} }] },
    'updates[0] must have one of the forms that /docs shows',
  ],
])('a refusal names the accepted values and forms: %s %j', async (url, sent, expected) => {
  const { post } = await buildTestApp()
  const { status, body } = await post(url, { project_id: 'a/b', ...sent })
  expect(status).toBe(422)
  expect(body.error.message).toContain(expected)
})

it('the error of a batch item with an unknown mode lists the modes', async () => {
  const { post } = await buildTestApp()
  const { body } = await post('/call/upsert_batch', { batch: [{ mode: 'stop', req: {} }] })
  expect(body.errors[0].message).toBe('mode must be one of start, end')
})

it('the error for a body that is too long says the limit', async () => {
  const { post } = await buildTestApp({ bodyBytesMax: 4096, trainingBodyBytesMax: 8192 })
  const expected = async (url: string) => (await post(url, ' '.repeat(9000))).body.error.message
  expect(await expected('/call/start')).toBe('The body has more than 4096 bytes.')
  expect(await expected('/v1/preview/training-jobs')).toBe('The body has more than 8192 bytes.')
})

it('the error for a body that is no export names the encodings of OpenTelemetry', async () => {
  const { app, key } = await buildTestApp()
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/v1/traces',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: 'a=1',
  })
  expect(statusCode).toBe(415)
  expect(body).toContain('Send the body as application/x-protobuf or application/json.')
})

it('an unknown field with a very long name is named by its beginning', async () => {
  const { post } = await buildTestApp()
  const { status, body, text } = await post('/call/start', { start: { ['x'.repeat(100_000)]: 1 } })
  expect([status, body.error.code]).toEqual([422, 'validation_failed'])
  expect(body.error.message).toContain(`start.${'x'.repeat(100)} is not a field`)
  expect(text.length).toBeLessThan(2000)
})

it.each([
  ['svc_run_step', '1e400', 'must be a number that a double keeps as it is written'],
  ['svc_run_step', '9007199254740993', 'must be a number that a double keeps as it is written'],
  ['svc_run_step', '1.5', 'must be a whole number'],
  ['svc_run_step', '"1"', 'must be a number, not a string'],
  ['display_name', '1e400', 'must be a string, not a number'],
  ['inputs', '-0', 'must be an object'],
  [
    'started_at',
    '"9999-12-31T00:00:00Z"',
    'must be an RFC 3339 date-time of the years 1900 to 2254, such as 2026-01-31T09:30:00Z',
  ],
])('the error of an invalid value says what it is: %s %s', async (field, json, message) => {
  const { post } = await buildTestApp()
  const start =
    '"project_id":"a/b","op_name":"x","attributes":{},"inputs":{},"started_at":"2026-01-01T00:00:00Z"'
  const body = `{"start":{${start},"${field}":${json}}}`
  const response = await post('/call/start', body)
  expect([response.status, response.body.error.message]).toEqual([422, `start.${field} ${message}`])
})

it.each(['/calls/stats', '/v1/chat/completions'])(
  'a wrong body as a whole has no param: %s',
  async (url) => {
    const { post } = await buildTestApp()
    const { status, body } = await post(url, [])
    expect([status, body.error.param]).toEqual([url === '/calls/stats' ? 422 : 400, null])
  },
)
