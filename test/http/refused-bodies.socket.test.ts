import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { unreadBody } from '../../src/http/body/unread-body.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { createRawClient } from '../support/raw-client.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const MIB = 1024 * 1024

async function listen(overrides = {}) {
  const test = await buildTestApp({ dataDir: makeTempDir(), ...overrides })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  return { ...test, port, url: `http://127.0.0.1:${port}` }
}

/** The text of a form with one file and fields before it. */
function formOf(fileBytes: number, project = 'acme/demo') {
  const part = (name: string) => `--b\r\ncontent-disposition: form-data; name="${name}"`
  const head = `${part('project_id')}\r\n\r\n${project}\r\n${part('file')}; filename="f"\r\n\r\n`
  return `${head}${'x'.repeat(fileBytes)}\r\n--b--\r\n`
}

function post(path: string, key: string, type: string, body: string) {
  return [
    `POST ${path} HTTP/1.1`,
    'host: x',
    `authorization: ${key}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

const FORM = 'multipart/form-data; boundary=b'
const VERSION = 'GET /version HTTP/1.1\r\nhost: x\r\n\r\n'

describe('a body that is refused before it was read', () => {
  it.each([
    ['413 of a field of a form', FORM, formOf(10, 'p'.repeat(300_000)), 413],
    ['413 of the file of a form', FORM, formOf(400_000), 413],
    ['415', 'text/plain', 'x'.repeat(250_000), 415],
    ['401', FORM, formOf(300_000), 401],
    ['404', FORM, formOf(300_000), 404],
  ])(
    'a body refused before its end does not block the next request of its connection: %s',
    async (name, type, body, status) => {
      const { port, key } = await listen({ bodyBytesMax: 200_000 })
      const client = createRawClient(port)
      onTestFinished(client.close)
      const path = status === 404 ? '/file/nothing' : '/file/create'
      const authorization = name === '401' ? 'Basic none' : basic(key)
      client.write(post(path, authorization, type, body))
      const refused = await client.read()
      expect(refused.status).toBe(status)
      expect(refused.body.error.code).toMatch(/^[a-z_]+$/)
      if (refused.headers.connection === 'close') {
        await client.closed
        return
      }
      client.write(VERSION)
      expect((await client.read()).status).toBe(200)
    },
  )

  it('a refused body of 300 kB leaves the connection to the next upload', async () => {
    const { port, key, createKey } = await listen()
    const reader = await createKey({ scopes: ['traces:read'] })
    const client = createRawClient(port)
    onTestFinished(client.close)
    client.write(post('/file/create', basic(reader), FORM, formOf(300_000)))
    expect((await client.read()).body.error.code).toBe('scope_missing')
    client.write(post('/file/create', basic(key), FORM, formOf(300_000)))
    expect((await client.read()).status).toBe(200)
  })

  it('a body refused with 503 for a full disk leaves the connection to the next request', async () => {
    const { port, key, deps } = await listen()
    const { files } = deps as { files: { receiveFile: unknown } }
    const { ApiError } = await import('../../src/errors.ts')
    Object.assign(files, {
      receiveFile: async (source: AsyncIterable<Buffer>) => {
        for await (const _chunk of source) throw new ApiError('store_unavailable')
      },
    })
    const client = createRawClient(port)
    onTestFinished(client.close)
    client.write(post('/file/create', basic(key), FORM, formOf(900_000)))
    expect((await client.read()).status).toBe(503)
    client.write(VERSION)
    expect((await client.read()).status).toBe(200)
  })

  it.each([8, 34, 80])("a refused body is 413 for Node's fetch, not EPIPE: %i MiB", async (mib) => {
    const { url, key } = await listen()
    const body = Buffer.alloc(mib * MIB, 'x')
    const headers = { authorization: basic(key), 'content-type': 'application/json' }
    for (const [path, status] of [
      ['/call/start', mib > 32 ? 413 : 400],
      ['/nothing', 404],
    ] as const) {
      const response = await fetch(`${url}${path}`, { method: 'POST', body, headers })
      const { error } = (await response.json()) as { error: { code: string } }
      expect([response.status, typeof error.code]).toEqual([status, 'string'])
    }
  })

  it('a refused body gets its response while the client still sends', async () => {
    const { port, key } = await listen({ bodyBytesMax: 1000 })
    const request = httpRequest({
      port,
      method: 'POST',
      path: '/call/start',
      headers: {
        authorization: basic(key),
        'content-type': 'application/json',
        'content-length': 50 * MIB,
      },
    })
    request.on('error', () => undefined)
    onTestFinished(() => void request.destroy())
    request.write('x')
    const [status, connection] = await new Promise<unknown[]>((resolve) => {
      request.on('response', ({ statusCode, headers }) => resolve([statusCode, headers.connection]))
    })
    expect([status, connection]).toEqual([413, 'close'])
  })
})

describe('a body that does not end', () => {
  async function listenBounded(limits: { readOnBytesMax?: number; readOnMsMax?: number }) {
    const app = Fastify()
    await app.register(unreadBody, limits)
    app.addHook('onRequest', async () => {
      throw Object.assign(new Error('no'), { statusCode: 403 })
    })
    app.post('/', async () => 'taken')
    await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return (app.server.address() as AddressInfo).port
  }

  async function sendUntilClosed(port: number, length: number, chunk: string): Promise<string> {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    onTestFinished(() => void socket.destroy())
    let response = ''
    socket.on('data', (text: string) => {
      response += text
    })
    socket.on('error', () => undefined)
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`)
    const isOver = () => socket.destroyed || !socket.writable
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    while (chunk !== '' && !isOver()) {
      socket.write(chunk)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    return response
  }

  it('a refused body is read up to a number of bytes, then the connection is closed', async () => {
    const port = await listenBounded({ readOnBytesMax: 2 * MIB })
    expect(await sendUntilClosed(port, 1024 * MIB, 'x'.repeat(65_536))).toMatch(/^HTTP\/1.1 403 /)
  })

  it('a refused body is read for a limited time, then the connection is closed, also with keep-alive', async () => {
    const port = await listenBounded({ readOnMsMax: 20 })
    expect(await sendUntilClosed(port, 1000, '')).toMatch(/^HTTP\/1.1 403 /)
  })
})
