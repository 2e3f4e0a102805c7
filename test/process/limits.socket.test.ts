import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { createRawClient, type RawAnswer } from '../support/raw-client.ts'

/** Sends bytes, returns the response and disconnects, since the server may wait for more of a body. */
async function exchange({ app }: TestApp, bytes: string): Promise<RawAnswer> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  const client = createRawClient(port)
  client.write(bytes)
  const response = await client.read()
  client.close()
  return response
}

describe('limits of the connection', () => {
  it('responds with one JSON body for headers that are too large', async () => {
    const { status, body } = await exchange(
      await buildTestApp(),
      `GET /health HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(20_000)}\r\n\r\n`,
    )
    expect([status, body.error.code]).toEqual([431, 'headers_too_large'])
  })

  it('responds with one JSON body for what is not HTTP', async () => {
    const { status, body } = await exchange(await buildTestApp(), 'HELO mail\r\n\r\n')
    expect([status, body.error.code]).toEqual([400, 'invalid_http'])
  })

  it('refuses a body above the limit by its announced length', async () => {
    const { status } = await exchange(
      await buildTestApp({ bodyBytesMax: 1024 }),
      [
        'POST /call/start HTTP/1.1',
        'host: x',
        'connection: close',
        'content-type: application/json',
        'content-length: 999999999',
        '',
        '{',
      ].join('\r\n'),
    )
    // Without credentials nothing of the body is read at all.
    expect(status).toBe(401)
  })
})

describe('addresses', () => {
  it.each([
    ['/nothing', 404, 'unknown_url'],
    ['/call/', 404, 'unknown_url'],
    ['/call/start', 405, 'method_not_allowed'],
    ['/%zz', 404, 'unknown_url'],
  ])('responds with %s with %i %s', async (url, status, code) => {
    const { get } = await buildTestApp()
    const response = await get(url)
    expect([response.status, response.body.error.code]).toEqual([status, code])
  })

  it('serves health and readiness without credentials', async () => {
    const { get } = await buildTestApp()
    for (const url of ['/health', '/ready', '/health/']) {
      const { status, body } = await get(url, { key: null })
      expect([status, body]).toMatchObject([200, { status: 'ok' }])
    }
  })

  it('responds with 503 at /ready when the store is gone, and still lives', async () => {
    const { get, deps } = await buildTestApp()
    expect((await get('/ready')).status).toBe(200)
    await deps.close()
    const ready = await get('/ready')
    expect([ready.status, ready.body.error.code]).toEqual([503, 'store_unavailable'])
    expect((await get('/health')).status).toBe(200)
  })

  it('responses have the x-request-id of the client, or a new one', async () => {
    const { get } = await buildTestApp()
    const given = await get('/health', { headers: { 'x-request-id': 'abc.DEF:1' } })
    expect(given.headers['x-request-id']).toBe('abc.DEF:1')
    for (const bad of ['with space', 'x'.repeat(129), 'é']) {
      const { headers } = await get('/nothing', { headers: { 'x-request-id': bad } })
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
  })
})
