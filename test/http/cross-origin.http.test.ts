/** Sends forms to all routes as a browser does for a page of this server and for pages of others. */
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/errors.ts'
import { authorizationFor, buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { listRoutes } from '../support/list-routes.ts'

/** The bodies that a page may send to another origin without a preflight, by their `Content-Type`. */
const FORMS: readonly (readonly [type: string | null, body: string])[] = [
  [
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n',
  ],
  ['Multipart/Form-Data ;boundary=b', '--b--\r\n'],
  ['application/x-www-form-urlencoded', 'a=1'],
  ['text/plain', '{}'],
  ['text/plain; application/json', '{}'],
  [null, ''],
]

const FOREIGN: readonly Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://weft.example:8081' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: 'http://other.weft.example' },
  { 'sec-fetch-site': 'cross-site', origin: 'http://weft.example' },
  { origin: 'https://evil.example', 'x-forwarded-host': 'public.example' },
]

const OWN: readonly Record<string, string>[] = [
  {},
  { origin: 'http://weft.example' },
  { origin: 'http://WEFT.example:80' },
  { 'sec-fetch-site': 'same-origin', origin: 'https://public.example' },
  { 'sec-fetch-site': 'none' },
  { origin: 'https://public.example', 'x-forwarded-host': 'public.example' },
  { origin: 'https://public.example', 'x-forwarded-host': 'public.example:443, inner' },
]

interface Sent {
  readonly method: string
  readonly url: string
  readonly type: string | null
  readonly body: string
  readonly headers: Record<string, string>
}

/** Returns the code of the refusal, or the status. */
async function send({ app, key }: TestApp, { method, url, type, body, headers }: Sent) {
  const response = await app.inject({
    method: method as 'POST',
    url,
    headers: {
      host: 'weft.example',
      authorization: authorizationFor(url, key),
      ...(type === null ? {} : { 'content-type': type }),
      ...headers,
    },
    ...(body === '' ? {} : { payload: body }),
  })
  const { body: text, statusCode } = response
  // Exporters of OpenTelemetry read another error body, which may be binary.
  if (text.includes(ERRORS.cross_origin_form.text)) return 'cross_origin_form'
  return String(statusCode)
}

describe('a form from a page of another origin', () => {
  it('a form from another origin is refused by every route that may change something', async () => {
    const app = await buildTestApp()
    const routes = listRoutes(app.app).filter(({ method }) => !['GET', 'HEAD'].includes(method))
    const taken: string[] = []
    for (const { method, url } of routes) {
      for (const [type, body] of FORMS) {
        const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
        const outcome = await send(app, { method, url, type, body, headers })
        if (outcome !== 'cross_origin_form') taken.push(`${method} ${url} ${type} ${outcome}`)
      }
    }
    expect(taken).toEqual([])
    const names = routes.map(({ method, url }) => `${method} ${url}`)
    expect(names).toEqual(
      expect.arrayContaining(['POST /file/create', 'POST /traces/files/create']),
    )
    expect(names).toEqual(expect.arrayContaining(['POST /call/start', 'DELETE /v1/keys/x']))
    expect(names.length).toBeGreaterThan(200)
  })

  it.each(FOREIGN)('a form from another origin gets 403 for the headers %j', async (headers) => {
    const app = await buildTestApp()
    for (const [type, body] of FORMS) {
      const form = { method: 'POST', url: '/file/create', type, body, headers }
      expect(await send(app, form)).toBe('cross_origin_form')
    }
  })

  it('a form from another origin stores nothing', async () => {
    const app = await buildTestApp()
    const form = new FormData()
    form.set('project_id', 'acme/demo')
    form.set('file', new Blob(['content']), 'file')
    const encoded = new Response(form)
    const sent = {
      method: 'POST',
      url: '/file/create',
      type: encoded.headers.get('content-type'),
      body: await encoded.text(),
    }
    const sum = async () =>
      (await app.post('/files/query_stats', { project_id: 'acme/demo' })).body.total_size_bytes
    const headers = { 'sec-fetch-site': 'cross-site' }
    expect(await send(app, { ...sent, headers })).toBe('cross_origin_form')
    expect(await sum()).toBe(0)
    expect(await send(app, { ...sent, headers: {} })).toBe('200')
    expect(await sum()).toBe(7)
  })
})

describe('a request that no page of another origin can send', () => {
  it.each(OWN)('a form with the headers %j is accepted', async (headers) => {
    const app = await buildTestApp()
    for (const [type, body] of FORMS) {
      const form = { method: 'POST', url: '/file/create', type, body, headers }
      expect(await send(app, form)).not.toBe('cross_origin_form')
    }
  })

  it('JSON needs a preflight request in browsers, which is never allowed', async () => {
    const app = await buildTestApp()
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const body = JSON.stringify({ project_id: 'acme/demo' })
    const json = { method: 'POST', url: '/files/query_stats', type: 'application/json', body }
    expect(await send(app, { ...json, headers })).toBe('200')
    const preflight = await app.app.inject({
      method: 'OPTIONS',
      url: '/files/query_stats',
      headers: { ...headers, 'access-control-request-method': 'POST' },
    })
    expect(preflight.statusCode).toBe(405)
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin')
  })
})
