import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openDeps } from '../../src/deps.ts'
import { ApiError } from '../../src/errors.ts'
import { basic } from '../support/build-test-app.ts'
import { createRawClient } from '../support/raw-client.ts'

const KEY = 'wk_key_of_the_test_of_log_lines'
const READ = { project_id: 'acme/demo', id: 'c' }

/** An app that gathers its log lines; its calls are read with `failure`. */
async function openLogged(failure: Error | null) {
  const config = { ...readConfig({}), dataDir: ':memory:', bootstrapKey: KEY, drainTimeoutMs: 50 }
  const deps = await openDeps(config)
  // biome-ignore lint/suspicious/noExplicitAny: lines of every shape.
  const lines: any[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const findCall = async () => {
    if (failure) throw failure
    return null
  }
  const calls = { ...deps.calls, findCall } as typeof deps.calls
  const app = await buildApp(config, { ...deps, calls }, { level: 'info', stream })
  onTestFinished(async () => {
    await app.close()
    await deps.close()
  })
  return { app, lines, close: () => app.close() }
}

describe('the log under overload', () => {
  it('has one line a second for each kind of 503, not one for each request', async () => {
    const { app, lines, close } = await openLogged(new ApiError('server_overloaded'))
    const headers = { authorization: basic(KEY) }
    const responses = await Promise.all(
      Array.from({ length: 500 }, () =>
        app.inject({ method: 'POST', url: '/call/read', headers, payload: READ }),
      ),
    )
    expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([503]))
    await close()
    expect(lines.length).toBeLessThan(20)
    const counted = lines.filter(({ msg }) => msg === 'requests refused')
    expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(500)
    expect(counted[0]).toMatchObject({
      level: 40,
      code: 'server_overloaded',
      routes: { '/call/read': expect.any(Number) },
    })
    expect(lines.filter(({ request_id }) => request_id !== undefined)).toEqual([])
  })

  it('says once why the store is unavailable', async () => {
    const cause = new Error('disk I/O error')
    const { app, lines, close } = await openLogged(new ApiError('store_unavailable', { cause }))
    const headers = { authorization: basic(KEY) }
    for (let n = 0; n < 3; n++) {
      await app.inject({ method: 'POST', url: '/call/read', headers, payload: READ })
    }
    await close()
    const counted = lines.filter(({ code }) => code === 'store_unavailable')
    expect(counted[0]).toMatchObject({ level: 50, err: { message: 'disk I/O error' } })
    expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(3)
  })
})

describe('the log of refusals', () => {
  it('has the id of the request in every line about it', async () => {
    const { app, lines, close } = await openLogged(new Error('a bug'))
    const headers = { authorization: basic(KEY), 'x-request-id': 'r-1' }
    await app.inject({ method: 'POST', url: '/call/read', headers, payload: READ })
    await app.inject({ method: 'POST', url: '/traces/image/create', headers, payload: {} })
    await close()
    const own = lines.filter(({ request_id }) => request_id === 'r-1')
    expect(own.map(({ level, msg }) => [level, msg])).toEqual([
      [50, 'Something went wrong inside the server.'],
      [30, 'request answered'],
      [40, 'a client asked for what this server does not have'],
      [30, 'request answered'],
    ])
  })

  it('has one line for each, with its code and field', async () => {
    const { app, lines, close } = await openLogged(null)
    const headers = { authorization: basic(KEY), 'x-request-id': 'r-1' }
    const payload = { ...READ, id: 5 }
    await app.inject({ method: 'POST', url: '/call/read', headers, payload })
    await app.inject({ method: 'GET', url: '/version', headers: { 'x-request-id': 'r-2' } })
    await close()
    const own = lines.filter(({ request_id }) => request_id !== undefined)
    expect(own).toEqual([
      expect.objectContaining({ request_id: 'r-1', code: 'validation_failed', param: 'id' }),
      expect.not.objectContaining({ code: expect.anything() }),
    ])
    expect(own.map(({ msg }) => msg)).toEqual(['request answered', 'request answered'])
  })

  it.each([
    ['bytes that are not HTTP', 'nonsense-of-a-client', 400, 'invalid_http'],
    ['too large headers', `GET / HTTP/1.1\r\na: ${'x'.repeat(20_000)}`, 431, 'headers_too_large'],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nhost: x', 405, 'method_not_allowed'],
  ])(
    'has a line for %s, without them, under the id of the response',
    async (_name, head, status, code) => {
      const { app, lines } = await openLogged(null)
      const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
      const client = createRawClient(Number(address.port))
      onTestFinished(client.close)
      client.write(`${head}\r\n\r\n`)
      const response = await client.read()
      expect([response.status, response.body.error.code]).toEqual([status, code])
      const request_id = response.headers['x-request-id']
      expect(request_id).toMatch(/^[0-9a-f-]{36}$/)
      const fields = { level: 30, request_id, route: null, status, code, msg: 'request answered' }
      const own = lines.filter((line) => line.request_id !== undefined)
      expect(own).toEqual([expect.objectContaining(fields)])
      expect(JSON.stringify(lines)).not.toMatch(/nonsense-of|xxx|example\.org/)
    },
  )
})

describe('a client that leaves in the middle of a body', () => {
  it('is not an error of the server', async () => {
    const { app, lines } = await openLogged(null)
    const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(address.port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `POST /call/read HTTP/1.1\r\nhost: x\r\nauthorization: ${basic(KEY)}\r\n` +
        'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"project',
    )
    await new Promise((resolve) => app.server.once('request', resolve))
    setImmediate(() => socket.destroy())
    await expect.poll(() => lines.map(({ code }) => code)).toContain('client_closed_request')
    expect(lines.filter(({ level }) => level > 30)).toEqual([])
  })
})
