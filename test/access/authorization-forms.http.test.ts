/** The forms of an Authorization header, on a route that takes Bearer and on one that takes Basic. */
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'

const BEARER_HINT = 'This address takes the API key as `Authorization: Bearer <key>`.'
const BASIC_HINT =
  'This address takes the API key as the password of HTTP Basic credentials, with any user name.'
const BEARER = 'Bearer realm="weft"'

const INVALID = 'The API key is not valid.'

type Row = readonly [
  form: string,
  header: (key: string) => string | null,
  code: string | null,
  message: string | null,
]

const ROWS: readonly Row[] = [
  ['no header', () => null, 'missing_api_key', `No API key was given. ${BEARER_HINT}`],
  ['an empty header', () => '', 'missing_api_key', `No API key was given. ${BEARER_HINT}`],
  ['the scheme as documented', (key) => `Bearer ${key}`, null, null],
  ['the scheme in lower case', (key) => `bearer ${key}`, null, null],
  ['the scheme in upper case', (key) => `BEARER ${key}`, null, null],
  ['blanks before the token', (key) => `Bearer   ${key}`, null, null],
  ['no token', () => 'Bearer ', 'invalid_api_key', INVALID],
  ['the scheme alone', () => 'Bearer', 'invalid_api_key', BEARER_HINT],
  ['a wrong token', () => 'Bearer wk_wrong', 'invalid_api_key', INVALID],
  ['Basic', (key) => basic(key), 'invalid_api_key', BEARER_HINT],
  ['another scheme', (key) => `Token ${key}`, 'invalid_api_key', BEARER_HINT],
  ['the key alone', (key) => key, 'invalid_api_key', BEARER_HINT],
  ['a tab before the token', (key) => `Bearer\t${key}`, 'invalid_api_key', BEARER_HINT],
]

describe('a route that takes Bearer', () => {
  it.each(ROWS)('decides on %s', async (_form, header, code, message) => {
    const { app, key } = await buildTestApp()
    const authorization = header(key)
    const headers = authorization === null ? {} : { authorization }
    const response = await app.inject({ url: '/v1/backends', headers })
    if (code === null) {
      expect(response.statusCode).toBe(200)
      return
    }
    expect(response.statusCode).toBe(401)
    expect(response.headers['www-authenticate']).toBe(BEARER)
    expect(response.json().error).toEqual({
      message,
      type: 'authentication_error',
      param: null,
      code,
    })
  })

  it('answers 503, not 401, when keys cannot be read', async () => {
    const failing = { findPrincipal: () => Promise.reject(new ApiError('store_unavailable')) }
    const { deps } = await buildTestApp()
    const keys = { ...deps.keys, ...failing }
    const { get } = await buildTestApp({ chatQueueMax: 7 }, { keys })
    const { status, body } = await get('/v1/models')
    expect([status, body.error.code]).toEqual([503, 'store_unavailable'])
  })
})

it.each([
  ['Basic', '/me'],
  ['Bearer', '/v1/models'],
  ['Bearer', '/metrics'],
  ['x-api-key', '/v1/messages'],
])(
  'says that a key has expired, by %s at %s, with the code of an invalid one',
  async (scheme, url) => {
    const { app, deps } = await buildTestApp()
    const rights = {
      svc_user_id: 'u',
      svc_username: 'u',
      scopes: ['admin'],
      projects: ['*'],
    } as const
    const { secret } = await deps.keys.createKey({ ...rights, expires_at_us: 1 })
    const headersOf = (key: string) => {
      if (scheme === 'x-api-key') return { 'x-api-key': key }
      return { authorization: scheme === 'Basic' ? basic(key) : `Bearer ${key}` }
    }
    const method = url === '/v1/messages' ? 'POST' : 'GET'
    const ask = async (key: string) => {
      const { statusCode, body } = await app.inject({ method, url, headers: headersOf(key) })
      return [statusCode, body.includes('The API key has expired.')]
    }
    expect(await ask(secret)).toEqual([401, true])
    expect(await ask(`${secret}x`)).toEqual([401, false])
  },
)

it('gives the hint of the scheme that the route takes', async () => {
  const { app, key } = await buildTestApp()
  const headers = { authorization: `Bearer ${key}` }
  const response = await app.inject({ method: 'POST', url: '/call/read', headers })
  expect([response.statusCode, response.headers['www-authenticate']]).toEqual([
    401,
    'Basic realm="weft", charset="UTF-8"',
  ])
  expect(response.json().error.message).toBe(BASIC_HINT)
})
